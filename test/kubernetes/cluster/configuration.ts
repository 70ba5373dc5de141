import { join } from 'node:path'
import { imageName } from './build.ts'
import { pkiFile } from './certificates.ts'
import { addresses, containerdSocket, etc, logs, podBridge, ports, run, state } from './settings.ts'

const registry = `localhost:${ports.registry}`

/** The configuration files of the cluster's programs, by path below `etc`. */
export const configurationFiles = (): Readonly<Record<string, string>> => ({
  'containerd.toml': containerd(),
  // The registry speaks HTTP without TLS.
  [join('certs.d', registry, 'hosts.toml')]: [
    `server = "http://${registry}"`,
    `[host."http://${registry}"]`,
    '  capabilities = ["pull", "resolve"]',
    '',
  ].join('\n'),
  [join('cni', '10-pods.conflist')]: json(network),
  'registry.json': json({
    version: '0.1',
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: join(state, 'registry') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${ports.registry}` },
  }),
  // A pod gets no name server but the cluster's.
  'resolv.conf': '',
  'kubelet.json': json(kubelet),
})

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/**
 * Without CAP_SYS_RESOURCE runc cannot lower `oom_score_adj`, and no container starts unless
 * `restrict_oom_score_adj` is set.
 */
const containerd = (): string => `version = 2
root = "${join(state, 'containerd')}"
state = "${join(run, 'containerd')}"
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${join(state, 'containerd-opt')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${imageName('pause')}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${join(etc, 'cni')}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${join(etc, 'certs.d')}"
`

const network = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: podBridge,
      isGateway: true,
      ipMasq: false,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        dataDir: join(run, 'cni-addresses'),
        ranges: [[{ subnet: addresses.pods }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
}

/** Kubernetes 1.34 runs on cgroup v1 only with `failCgroupV1: false`. */
const kubelet = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: addresses.node,
  healthzBindAddress: '127.0.0.1',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: pkiFile('ca', 'crt') },
  },
  authorization: { mode: 'Webhook' },
  tlsCertFile: pkiFile('kubelet-server', 'crt'),
  tlsPrivateKeyFile: pkiFile('kubelet-server', 'key'),
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  containerRuntimeEndpoint: `unix://${containerdSocket}`,
  clusterDNS: [addresses.dns],
  clusterDomain: 'cluster.local',
  resolvConf: join(etc, 'resolv.conf'),
  podLogsDir: join(logs, 'pods'),
  volumePluginDir: join(state, 'volume-plugins'),
  imageGCHighThresholdPercent: 100,
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '1%',
    'imagefs.available': '1%',
    'nodefs.inodesFree': '1%',
  },
  enforceNodeAllocatable: [],
}
