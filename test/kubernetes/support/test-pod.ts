import { type Kube, kinds } from '../../../server/engines/index.ts'
import { until } from '../../support/until.ts'

const limit = (): AbortSignal => AbortSignal.timeout(60_000)

/** Returns a pod of a Node.js program that listens on port 8080. */
export const podOf = (
  metadata: { namespace: string; name: string; labels: object },
  image: string,
  source: string,
) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, labels: { ...metadata.labels } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'main',
        image,
        command: ['node', '-e', source],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        resources: { requests: { cpu: '10m', memory: '32Mi' } },
      },
    ],
  },
})

/** Waits until a pod is ready. Returns its address. */
export async function untilReady(kube: Kube, place: { namespace: string; name: string }): Promise<string> {
  let address = ''
  await until('the pod is ready', async () => {
    const pod = await kube.get(kinds.pod, place, limit())
    const isReady = pod?.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')
    address = pod?.status?.podIP ?? ''
    return isReady === true
  })
  return address
}
