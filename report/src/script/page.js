globalThis.showEtwReport = (data, element) => { element.textContent = data.about.sentences.join('\n'); };
