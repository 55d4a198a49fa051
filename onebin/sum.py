import json,collections
rs=[json.loads(l) for l in open('/tmp/onebin/results.jsonl')]
l=json.load(open('/tmp/onebin/list.json'))
n=sum(1 for v in json.load(open('/tmp/onebin/info.json')).values() if v=='in')
c=sum(1 for r in rs if r['by']); print('of',n,'tried',len(rs),'caught',c,'missed',len(rs)-c, 'unreached',sum(1 for r in rs if not r['by'] and not r['ran'] and not r['slow']),'avg t',sum(r['t'] for r in rs)/len(rs))
print(collections.Counter(r['by'] for r in rs).most_common(8))
