import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { attempt, newRelease } from '../../server/engines/engine.cases.ts'
import type { Release } from '../../server/engines/index.ts'
import { isKubeError, kinds } from '../../server/engines/kubernetes/client/index.ts'
import { namespaceOf, releaseName } from '../../server/engines/kubernetes/names.ts'
import { type KubernetesBench, openKubernetesBench } from '../../server/engines/kubernetes/test-bench.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { addresses, ports } from './cluster/settings.ts'

// A program of a user that attacks its cluster from inside its pod.

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)
let bench: KubernetesBench
let attacker: Release
let victim: Release

/** Runs a program inside the attacker's pod. Returns what it prints, as JSON. */
async function inside<T>(source: string, service = attacker.service): Promise<T> {
  const program = `(async()=>{${source}})().then((said)=>process.stdout.write(JSON.stringify(said)))`
  const { output, exitCode } = await bench.engine.exec(service, ['node', '-e', program], limit())
  assert.equal(exitCode, 0, output)
  return JSON.parse(output)
}

/** Asks an API server or a kubelet from inside, without a check of its certificate. */
const ask = (host: string, port: number, path: string): Promise<{ status?: number; text?: string; error?: string }> =>
  inside(`return new Promise((done)=>{
    const place={host:${JSON.stringify(host)},port:${port},path:${JSON.stringify(path)}}
    const options={...place,rejectUnauthorized:false,timeout:5000}
    const sent=require('https').get(options,(answer)=>{
      let text='';answer.on('data',(piece)=>text+=piece).on('end',()=>done({status:answer.statusCode,text}))})
    sent.on('timeout',()=>sent.destroy(new Error('silent')))
    sent.on('error',(error)=>done({error:String(error.message)}))})`)

/** Returns whether a connection from inside opens. */
const connects = (host: string, port: number): Promise<boolean> =>
  inside(`return new Promise((done)=>{
    const one=require('net').connect({host:${JSON.stringify(host)},port:${port},timeout:5000})
    const end=(isOpen)=>()=>{one.destroy();done(isOpen)}
    one.on('connect',end(true)).on('timeout',end(false)).on('error',end(false))})`)

describe('a program inside a pod', () => {
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
    attacker = newRelease(bench.workload('web'))
    victim = newRelease({ ...bench.workload('web'), aliases: ['victim'], variables: { WORD: 'canary' } })
    await Promise.all([attacker, victim].map((release) => bench.engine.start(release, attempt())))
  })
  after(() => bench?.close())

  test('a pod has no token, no variables of other services and no capability beyond the usual ones', async () => {
    const found = await inside<Record<string, unknown>>(`const fs=require('fs')
    const own=Object.keys(process.env).filter((name)=>/^KUBERNETES_|_SERVICE_HOST$|_PORT_/.test(name))
    const status=fs.readFileSync('/proc/self/status','utf8')
    return {token:fs.existsSync('/var/run/secrets/kubernetes.io'),own,noNew:/NoNewPrivs:\\s*1/.test(status),
      seccomp:/Seccomp:\\s*2/.test(status),
      devices:fs.readdirSync('/dev').filter((name)=>/^(sd|vd|nvme|mem|kmsg)/.test(name)),
      sockets:['/var/run/docker.sock','/run/containerd/containerd.sock'].filter((path)=>fs.existsSync(path)),
      capabilities:parseInt(/CapBnd:\\s*([0-9a-f]+)/.exec(status)[1],16)}`)
    const { capabilities, own, ...rest } = found
    // Kubernetes itself names its API server in every pod.
    assert.deepEqual(
      Object(own).filter((name: string) => !name.startsWith('KUBERNETES_')),
      [],
    )
    assert.deepEqual(rest, { token: false, noNew: true, seccomp: true, devices: [], sockets: [] })
    // NET_ADMIN, NET_RAW, SYS_MODULE, SYS_PTRACE, SYS_ADMIN
    for (const forbidden of [12, 13, 16, 19, 21]) {
      assert.equal(Math.floor(Number(capabilities) / 2 ** forbidden) % 2, 0, `capability ${forbidden}`)
    }
  })

  test('the API server and the kubelet give a pod nothing', async () => {
    const name = releaseName(victim)
    const secret = `/api/v1/namespaces/${namespaceOf(victim.environment)}/secrets/${name}`
    const stored = await bench.kube.get(kinds.secret, { namespace: namespaceOf(victim.environment), name }, limit())
    assert.ok(stored)
    const own = `/api/v1/namespaces/${namespaceOf(attacker.environment)}`
    const nodeApi = [addresses.node, ports.api] as const
    for (const [host, port] of [[addresses.api, 443] as const, nodeApi]) {
      for (const path of [secret, '/api/v1/secrets', `${own}/secrets`, `${own}/pods`, '/api/v1/nodes']) {
        const { status, text, error } = await ask(host, port, path)
        assert.ok(error !== undefined || status === 401 || status === 403, `${host}${path}: ${status}`)
        assert.doesNotMatch(text ?? '', /"items"|"data"/)
      }
    }
    for (const path of ['/pods', `/exec/${namespaceOf(victim.environment)}/x/main`, '/metrics', '/configz', '/logs/']) {
      const { status, error } = await ask(addresses.node, 10_250, path)
      assert.ok(error !== undefined || status === 401 || status === 403, `${path}: ${status}`)
    }
    assert.equal(await connects(addresses.node, 10_255), false, 'the port of the kubelet without a check')
    assert.equal(await connects('169.254.169.254', 80), false)
  })

  test('another environment is not reached, if the network of the cluster enforces its rules', async (t) => {
    const namespace = namespaceOf(victim.environment)
    const [policy] = (await bench.kube.list(kinds.networkPolicy, { namespace }, limit())).items
    const { podSelector, policyTypes, ingress, egress } = Object(Object(policy).spec)
    assert.deepEqual([podSelector, policyTypes], [{}, ['Ingress', 'Egress']])
    assert.deepEqual(ingress, [
      {
        from: [
          { podSelector: {} },
          { namespaceSelector: { matchExpressions: [{ key: 'quayside.io/environment', operator: 'DoesNotExist' }] } },
        ],
      },
    ])
    assert.ok(egress[0].to[0].ipBlock.except.includes('169.254.0.0/16'))
    const { environment } = attacker
    const label = (await bench.kube.get(kinds.namespace, { name: namespaceOf(environment) }, limit()))?.metadata.labels
    assert.equal(label?.['quayside.io/environment'], environment, 'the rule tells namespaces apart by this label')
    const seen = await bench.engine.observe(victim.service, limit())
    const [endpoint] = seen.state === 'absent' ? [] : seen.replicas.flatMap(({ endpoints }) => endpoints)
    assert.ok(endpoint)
    const reached = {
      pod: await connects(endpoint.address, endpoint.port),
      service: await connects(`victim.${namespace}.svc.cluster.local`, endpoint.port),
    }
    if (await isEnforced()) assert.deepEqual(reached, { pod: false, service: false })
    else
      t.diagnostic('the network of this cluster enforces no NetworkPolicy, so only the rules themselves were checked')
  })

  /** Whether a pod to which no rule lets anybody connect is out of reach. */
  async function isEnforced(): Promise<boolean> {
    const closed = newRelease(bench.workload('web'))
    const [endpoint] = await bench.engine.start(closed, attempt())
    const namespace = namespaceOf(closed.environment)
    const metadata = { name: 'closed', namespace }
    const spec = { podSelector: {}, policyTypes: ['Ingress'] }
    await bench.kube.remove(kinds.networkPolicy, { namespace, name: 'quayside-isolation' }, limit())
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec }
    await bench.kube.apply(policy, limit())
    for (let tries = 0; tries < 20; tries++) if (!(await connects(endpoint?.address ?? '', 8080))) return true
    return false
  }

  /** Each thing that Pod Security forbids, as a part of a pod or of its container. */
  const forbidden: readonly (readonly [string, object, object])[] = [
    ['the network of its node', { hostNetwork: true }, {}],
    ['the processes of its node', { hostPID: true }, {}],
    ['the shared memory of its node', { hostIPC: true }, {}],
    ['a directory of its node', { volumes: [{ name: 'root', hostPath: { path: '/' } }] }, {}],
    ['a port of its node', {}, { ports: [{ containerPort: 80, hostPort: 80 }] }],
    ['all privileges', {}, { securityContext: { privileged: true } }],
    ['the rights of an administrator', {}, { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }],
    ['no filter of system calls', {}, { securityContext: { seccompProfile: { type: 'Unconfined' } } }],
    ['settings of the kernel', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, {}],
  ]
  for (const [what, ofPod, ofContainer] of forbidden) {
    test(`the namespace of an environment takes no pod with ${what}`, async () => {
      const namespace = namespaceOf(attacker.environment)
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: 'forbidden' },
        spec: { containers: [{ name: 'main', image: image.reference(), ...ofContainer }], ...ofPod },
      }
      await assert.rejects(bench.kube.create(pod, limit()), (error) => {
        assert.ok(isKubeError(error, 403), String(error))
        assert.match(error.message, /violates PodSecurity "baseline:latest"/)
        return true
      })
    })
  }

  test('what the platform itself runs has no path, port or namespace of its node', async () => {
    const { items } = await bench.kube.list(kinds.pod, { namespace: namespaceOf(attacker.environment) }, limit())
    assert.equal(items.length, 1)
    const text = JSON.stringify(items)
    assert.doesNotMatch(
      text,
      /"hostPath"|"hostPort"|"hostNetwork":true|"hostPID":true|"hostIPC":true|"privileged":true/,
    )
    assert.match(text, /"automountServiceAccountToken":false/)
    assert.doesNotMatch(text, /serviceAccountToken"/)
  })
})
