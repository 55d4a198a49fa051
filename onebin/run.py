import json,subprocess,os,sys,time,random,threading,shutil,signal,re
ROOT='/tmp/onebin'; WS=ROOT+'/ws'
LOG=sys.argv[2] if len(sys.argv)>2 else 'build1.log'
ENV=dict(os.environ)
for kv in open('/tmp/env.sh').read().replace('export ','',1).split('ETW_LAYOUTS_')[1:]:
    k,v=kv.strip().split('=',1); ENV['ETW_LAYOUTS_'+k]=v.strip().strip('"')
PKG={'commands':'etw','dump':'etw','etl':'etw','export':'etw','new_builds':'etw','program':'etw','etw_layouts_project':'project','tests':'tests','xtask':'xtask','import':'xtask','interrupted':'xtask','left_out':'xtask','etw':'etw'}
def programs():
    out={}
    for x in re.findall(r'\((target/debug/deps/[^)]*)\)',open(f'{ROOT}/{LOG}').read()):
        out[os.path.basename(x).rsplit('-',1)[0]]=f'{WS}/{x}'
    return out
P=programs()
def run(prog,test,extra,timeout,worker,env=None,out=None,cpu=None):
    tmp=f'{ROOT}/tmp/{worker}'; shutil.rmtree(tmp,ignore_errors=True); os.makedirs(tmp)
    e=dict(ENV); e.update(extra); e['TMPDIR']=tmp; e['CARGO_MANIFEST_DIR']=f'{WS}/{PKG[prog]}'
    e['RUST_BACKTRACE']='0'
    t=time.time()
    p=subprocess.Popen(['prlimit','--as=12000000000',*(['--cpu=%d'%cpu] if cpu else []),'nice','-n','15',P[prog],'--exact',test,'--test-threads','1'],cwd=f'{WS}/{PKG[prog]}',env=e,stdin=subprocess.DEVNULL,stdout=out or subprocess.DEVNULL,stderr=subprocess.STDOUT if out else subprocess.DEVNULL,start_new_session=True)
    try: rc=p.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid,signal.SIGKILL); p.wait(); rc='timeout'
    return rc,time.time()-t
def parallel(items,work,n=2):
    it=iter(items); lock=threading.Lock()
    def loop(w):
        while True:
            with lock: x=next(it,None)
            if x is None: return
            work(x,w)
    ts=[threading.Thread(target=loop,args=(w,)) for w in range(n)]
    [t.start() for t in ts]; [t.join() for t in ts]
if sys.argv[1]=='base':
    tests=[]
    for name,path in P.items():
        r=subprocess.run([path,'--list'],cwd=f'{WS}/{PKG[name]}',env=ENV,capture_output=True,text=True)
        tests+=[(name,x[:-6]) for x in r.stdout.splitlines() if x.endswith(': test')]
    print(len(tests)); res={}
    def work(x,w):
        rec=f'{ROOT}/rec{w}'
        if os.path.exists(rec): os.remove(rec)
        rc,dt=run(*x,{'MUT_RECORD':rec},400,w,out=open(f'{ROOT}/out{w}','w'))
        ids=sorted({int(y) for y in open(rec)}) if os.path.exists(rec) else []
        if rc!=0: shutil.copy(f'{ROOT}/out{w}',f'{ROOT}/fail-{x[0]}-{x[1].replace("::",".")}')
        rc2,dt2=(rc,dt) if rc!=0 or not ids else run(*x,{},400,w)
        res['|'.join(x)]={'rc':rc,'rc2':rc2,'t':dt2,'ids':ids}
        print(x,rc,rc2,round(dt,2),round(dt2,2),len(ids),flush=True)
    parallel(tests,work)
    json.dump(res,open('base.json','w'))
if sys.argv[1]=='go':
    base=json.load(open('base.json')); info=json.load(open('info.json'))
    base={k:v for k,v in base.items() if v['rc']==0 and v['rc2']==0 and v['ids']}
    NOLINK=('tests|import::headers_come_back_as_specs','dump|full::all_of_it_comes_out','tests|image::','tests|pdb_from_header','import|the_command_fills','export|headers','tests|clang::','commands|atlas::it_works')
    LIMIT=float(os.environ.get('SLOW','1e9'))
    reach={}
    for k,v in base.items():
        for i in v['ids']: reach.setdefault(i,[]).append(k)
    BAD={int(x) for x in open('unviable_alone').read().split()}
    stat={k:[0,0] for k in base}
    done={}
    RES=ROOT+'/results.jsonl'
    if os.path.exists(RES):
        for l in open(RES):
            d=json.loads(l); done[d['id']]=d
            for t in d['ran']: stat[t][1]+=1
            if d['by']: stat[d['by']][0]+=1
    ids=sorted(int(k) for k,v in info.items() if v=='in' and int(k) not in BAD); random.Random(7).shuffle(ids)
    if len(sys.argv)>3: ids=[int(x) for x in sys.argv[3].split(',')]; done={}
    f=open(RES,'a'); lock=threading.Lock()
    def work(i,w):
        if i in done or os.path.exists(ROOT+'/stop'): return
        ts=[t for t in reach.get(i,[])]
        off=lambda t: base[t]['t']>LIMIT or t.startswith(NOLINK)
        slow=[t for t in ts if off(t)]; ts=[t for t in ts if not off(t)]
        ran=[];by=None;why=None;t0=time.time()
        while ts:
            t=max(ts,key=lambda k:(stat[k][0]+1)/(stat[k][1]+3)/(base[k]['t']+0.05)); ts.remove(t)
            prog,test=t.split('|'); ran.append(t)
            rc,dt=run(prog,test,{'MUT_ACTIVE':str(i)},60+20*base[t]['t'],w,cpu=int(base[t]['t']*4+5))
            stat[t][1]+=1
            if rc!=0: by=t;why=rc;stat[t][0]+=1;break
        with lock:
            f.write(json.dumps({'id':i,'by':by,'why':why,'ran':ran,'slow':slow if not by else [],'t':round(time.time()-t0,2)})+'\n'); f.flush()
    parallel(ids,work)
