import json,subprocess,re,os,sys
ROOT='/tmp/onebin'
def marks(text):
    """(start,end,ids,kind) ranges in chars"""
    out=[];stack=[]
    for m in re.finditer(r'/\*([<>\[\]])([0-9,]+)\*/',text):
        k,ids=m.group(1),m.group(2)
        if k in '<[': stack.append((m.start(),k,ids))
        else:
            s,k0,i0=stack.pop(); assert i0==ids,(i0,ids)
            out.append((s,m.end(),[int(x) for x in ids.split(',')],k0))
    assert not stack
    return out
for rnd in range(40):
    r=subprocess.run([f'{ROOT}/tool/target/debug/onebin','list.json','src','ws','excluded.txt','info.json'],cwd=ROOT,capture_output=True,text=True)
    print(r.stderr)
    if r.returncode: print(r.stderr); sys.exit(1)
    lib=open(ROOT+'/src/project/src/lib.rs').read()+open(ROOT+'/mutant.rs').read()
    open(ROOT+'/ws/project/src/lib.rs','w').write(lib)
    r=subprocess.run(['nice','-n','15','cargo','check','-p','etw-layouts-project','--message-format=json'],cwd=ROOT+'/ws',capture_output=True,text=True)
    bad=set();other=[];n=0
    for line in r.stdout.splitlines():
        d=json.loads(line)
        if d.get('reason')!='compiler-message': continue
        m=d['message']
        if m['level']!='error' or not m['spans']: 
            if m['level']=='error': other.append(m['rendered'][:300])
            continue
        n+=1
        spans=sorted(m['spans'],key=lambda s:not s['is_primary'])
        hit=None
        for want in ('<','['):
            for s in spans:
                f=ROOT+'/ws/'+s['file_name']
                raw=open(f,'rb').read(); text=raw.decode()
                a=len(raw[:s['byte_start']].decode()); b=len(raw[:s['byte_end']].decode())
                c=[x for x in marks(text) if x[3]==want and x[0]<=a and b<=x[1]]
                if c: hit=min(c,key=lambda x:x[1]-x[0]); break
            if hit: break
        if hit:
            bad|=set(hit[2])
            if hit[3]=='[' : print('NODE',hit[2],m['message'][:150])
        else: other.append(m['rendered'][:800])
    print('round',rnd,'errors',n,'bad',len(bad),'other',len(other),flush=True)
    for o in other[:5]: print(o)
    if r.returncode==0: print('compiles'); break
    if not bad: break
    with open(ROOT+'/excluded.txt','a') as f: f.write(' '.join(map(str,sorted(bad)))+'\n')
