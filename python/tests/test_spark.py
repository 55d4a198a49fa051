"""The data source of Spark, on a cluster of two executors in separate processes."""

import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import conftest
import pytest

import etw

if not shutil.which("java"):
    conftest.skipped("java", "install Java 17 or later")
if not importlib.util.find_spec("pyspark"):
    conftest.skipped("pyspark", "pip install pyspark")

from pyspark.sql import SparkSession, functions

from etw import spark as source


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    work = str(tmp_path_factory.mktemp("spark"))
    # Spark starts the executors; they must find the package too.
    os.environ["SPARK_WORKER_DIR"] = work
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("etw")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "spark.local.dir": work,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.dataSource.register(source.EtwDataSource)
    yield session
    session.stop()


def example(page):
    """The example of a page of the documentation."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    return re.search(r"```python spark\n(.*?)```", text, re.S).group(1)


def test_examples_of_the_documentation(spark, made, tmp_path):
    """Spark reads an exported dataset without the package; the example of the data source returns rows."""
    subprocess.run([sys.executable, "-m", "etw", "etl", "export", "-o", tmp_path / "tables", made], check=True, capture_output=True)
    names = {"print": lambda row: names.update(row=row)}
    exec(example("TABLES.md").replace('"tables/', f'"{tmp_path}/tables/'), names)
    assert (names["row"]["provider"], names["row"]["count"]) == ("Process", conftest.COUNT)
    folder = conftest.folder()
    if folder is None:
        pytest.skip("left out: example of docs/SCALE.md; set ETW_LAYOUTS_ETL")
    text = example("SCALE.md").replace("/data/traces/", f"{folder}/microsoft__net.4.5.2.").replace("events.filter", "rows = events.filter")
    exec(text.replace(".show()", ".collect()"), {"spark": spark}, names)
    assert len(names["rows"]) > 10 and len({row["trace"] for row in names["rows"]}) == 2, names["rows"]


@conftest.weekly
def test_rows_equal_the_output_of_the_program(spark, made, tmp_path, monkeypatch):
    """Each trace is a partition; options are evaluated while it is read."""
    for name in ["one", "two", "three", "four"]:
        (tmp_path / f"{name}.etl").write_bytes(made.read_bytes())
    frame = spark.read.format("etw").load(f"{tmp_path}/*.etl")
    assert frame.schema.fieldNames()[:4] == ["trace", "host", "sequence", "time"]
    total = conftest.COUNT + 1
    counts = frame.groupBy("trace").count().collect()
    assert {(Path(row["trace"]).stem, row["count"]) for row in counts} == {(name, total) for name in ["one", "two", "three", "four"]}
    assert frame.rdd.getNumPartitions() == 4

    narrow = frame.filter("processor = 1 AND process IN (4, 5) AND time >= '2019-04-17 18:40:00.1'")
    lines = conftest.program("etl", "events", "--processor", "1", "--from", "2019-04-17T18:40:00.1", made)
    rows = narrow.filter("trace LIKE '%one.etl'").select("sequence", "time", "provider_guid", "event", "keyword").collect()
    assert sorted(row["sequence"] for row in rows) == sorted(line["buffer"] << 32 | line["offset"] for line in lines)
    assert {(row["provider_guid"], row["event"]) for row in rows} == {(line["provider"], line["event"].split("/")[1]) for line in lines}
    # The filter of a query does not affect later ones. The data source does not depend on the setting.
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    assert frame.filter("processor = 1").count() < frame.count() == 4 * total
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")
    by_option = spark.read.format("etw").option("filter.processor", "1").option("payload", "none").load(str(tmp_path))
    assert by_option.count() == 4 * len(conftest.program("etl", "events", "--processor", "1", made))
    monkeypatch.chdir(tmp_path)
    # An executor has another working directory.
    assert [part.value for part in source.Reader({"path": "o*.etl"}, ["id"]).partitions()] == [str(tmp_path / "one.etl")]
    assert by_option.filter(functions.col("fields").isNotNull()).count() == 0


@conftest.weekly
def test_real_traces(spark):
    folder = conftest.folder()
    if folder is None:
        pytest.skip("left out: real traces; set ETW_LAYOUTS_ETL")
    paths = sorted(glob.glob(f"{folder}/*.etl"))
    frame = spark.read.format("etw").load(f"{folder}/*.etl")
    counts = {row["trace"]: row["count"] for row in frame.groupBy("trace").count().collect()}
    assert counts == {os.path.abspath(path): etw.open(path).info["events"] for path in paths}
