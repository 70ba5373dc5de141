import type { Tree } from '../../support/git-remote.ts'

/** Answers with its version, also for a while after it is asked to stop. */
const program = `
const { createServer } = require('node:http')
for (const [port, name] of [[8080, 'web'], [9090, 'admin']]) {
  createServer((_, answer) => answer.end(name + ' ' + process.env.VERSION)).listen(port)
}
process.on('SIGTERM', () => setTimeout(() => process.exit(), 4_000))
`

/** A chart of one Deployment with two Services at the same port. `image` has Node.js. */
export const portChart = (image: string, version: string, more: Tree = {}): Tree => ({
  'chart/Chart.yaml': 'apiVersion: v2\nname: ports\nversion: 1.2.3\n',
  'chart/values.yaml': 'web: web\n',
  'chart/templates/web.yaml': `
apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      terminationGracePeriodSeconds: 6
      containers:
        - name: server
          image: ${image}
          command: [node, -e, ${JSON.stringify(program)}]
          env: [{name: VERSION, value: ${version}}]
          ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9090}]
          readinessProbe: {tcpSocket: {port: http}, periodSeconds: 1}
          resources: {requests: {cpu: 10m, memory: 32Mi}}
---
apiVersion: v1
kind: Service
metadata: {name: "{{ .Values.web }}"}
spec: {selector: {app: server}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: admin}
spec: {selector: {app: server}, ports: [{port: 80, targetPort: 9090}]}
`,
  ...more,
})
