import json,sys
rs=[json.loads(l) for l in open('/tmp/onebin/results.jsonl')]
l=json.load(open('/tmp/onebin/list.json'))
seen=set(int(x) for x in open('/tmp/onebin/shown').read().split()) if len(sys.argv)<2 else set()
new=[r for r in rs if not r['by'] and r['id'] not in seen]
for r in sorted(new,key=lambda r:r['id']):
    m=l[r['id']-1]; print(r['id'],m['name'].replace('project/src/',''),'| ran',len(r['ran']),'slow',len(r['slow']))
open('/tmp/onebin/shown','a').write(' '.join(str(r['id']) for r in new)+'\n')
