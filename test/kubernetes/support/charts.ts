import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitRemote, openGitRemote, type Tree } from '../../support/git-remote.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { until } from '../../support/until.ts'
import { imageName } from '../cluster/build.ts'

/** A chart of a server under test, with its git repository. */
export interface TestChart {
  readonly id: string
  readonly git: GitRemote
  /** Sends the change of its settings. */
  edit(change: object): Promise<void>
  deploy(): Promise<void>
  /** Waits until it has no running or queued request. Returns its state and the reason. */
  settles(): Promise<{ readonly state: string; readonly reason: string }>
  /** Deploys it and waits. */
  run(): Promise<{ readonly state: string; readonly reason: string }>
  /** Sets `set` and leaves all other values out. */
  set(values: readonly (readonly [string, string])[]): Promise<void>
  /** The stored lines of its pods. */
  stored(): Promise<string>
  /** The lines of the deployments of its environment. */
  lines(): Promise<string>
}

/** Settings of a chart in the git host of the server. */
const settingsOf = (name: string, url: string) => ({
  name,
  timeout_sec: 60,
  auto_deploy: false,
  source: { git_repository: { url, branch: 'main', root_path: '/chart' } },
  arguments: [],
  allow_cluster_wide_resources: false,
  values_override: { set: [], set_string: [], set_json: [] },
})

/** Creates a chart. Settings may name another repository than its own in the git host. */
export async function makeChart(
  server: Pick<ServerProcess, 'apiUrl' | 'token' | 'must' | 'dataDirectory'>,
  { environmentId, name, settings = {} }: { environmentId: string; name: string; settings?: object },
): Promise<TestChart> {
  const git = await openGitRemote({ url: `${server.apiUrl}/git/${name}.git`, token: server.token })
  const body = { ...settingsOf(name, git.url), ...settings }
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/helm`, body)
  const status = () =>
    server.must<{ state: string; reason: string; deployment_request_id: string | null }>('GET', `/helm/${id}/status`)
  const settles = () =>
    until(
      `chart ${name} is settled`,
      async () => {
        const { state, reason, deployment_request_id } = await status()
        return deployment_request_id === null ? { state, reason } : undefined
      },
      { limitMs: 180_000, seen: status },
    )
  const edit = async (change: object) => void (await server.must('PUT', `/helm/${id}`, change))
  const deploy = async () => void (await server.must('POST', `/helm/${id}/deploy`, {}))
  return {
    id,
    git,
    edit,
    set: (set) => edit({ values_override: { set, set_string: [], set_json: [], file: null } }),
    stored: () => readStored(join(server.dataDirectory, 'logs', 'service', id)),
    deploy,
    settles,
    run: async () => {
      await deploy()
      return settles()
    },
    lines: async () => {
      const lines = await server.must<{ message?: { safe_message?: string } }[]>(
        'GET',
        `/environment/${environmentId}/logs`,
      )
      return JSON.stringify(lines)
    },
  }
}

async function readStored(directory: string): Promise<string> {
  const names = await readdir(directory).catch(() => [])
  return (await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))).join('')
}

const about = 'apiVersion: v2\nname: web\nversion: 1.2.3\n'

/** A chart of one Deployment that prints its message, with these other files. */
export const webChart = (more: Tree = {}): Tree => ({
  'chart/Chart.yaml': about,
  'chart/values.yaml': 'message: first\nreplicas: 1\ncommand: "touch /tmp/up; sleep 1000000"\n',
  'chart/templates/web.yaml': `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels: {app: web, app.kubernetes.io/managed-by: Helm}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, app.kubernetes.io/managed-by: Helm}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: printer
          image: ${imageName('tools')}
          command: [sh, -c, "echo up $MESSAGE; {{ .Values.command }}"]
          readinessProbe: {exec: {command: [test, -e, /tmp/up]}, periodSeconds: 1}
          env: [{name: MESSAGE, valueFrom: {secretKeyRef: {name: {{ .Release.Name }}-web, key: message}}}]
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-web}
stringData: {message: {{ .Values.message | quote }}}
---
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}-web}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
`,
  'chart/templates/NOTES.txt': 'The message is {{ .Values.message }}.\n',
  ...more,
})

/** A template of one ConfigMap with this text. */
export const configMap = (name: string, text = 'x'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {text: ${text}}\n`

/** A chart of one ConfigMap, with these other files. */
export const smallChart = (more: Tree = {}): Tree => ({
  'chart/Chart.yaml': about,
  'chart/values.yaml': 'text: small\n',
  'chart/templates/small.yaml': configMap('{{ .Release.Name }}-small', '{{ .Values.text | toJson }}'),
  ...more,
})
