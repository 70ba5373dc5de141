import type { RenderedObject } from '../../engine.ts'

const trust = 'or set allow_cluster_wide_resources to true if you trust the chart'
const addressKinds = ['Endpoints', 'EndpointSlice']
const publicPorts = 'name the Service in "ports" of the service if it is to be public'

/**
 * Returns why an object of a chart may not be created: it would lead traffic elsewhere than to pods
 * of the environment, or open addresses of the cluster past its network rules. Rights of Kubernetes
 * do not tell such Services apart. Pure.
 */
export function refusalOfTraffic({ apiVersion, kind, ...object }: RenderedObject): string | undefined {
  if (addressKinds.includes(kind)) {
    const what = 'leads traffic to addresses that it names, past network rules'
    return `${what}; turn it off in the values of the chart, ${trust}`
  }
  return kind === 'Service' && apiVersion === 'v1' ? refusalOfService(recordOf(object['spec'])) : undefined
}

/** Accepts what is known to be harmless only, so new types and other spellings are refused. */
function refusalOfService(spec: Readonly<Record<string, unknown>>): string | undefined {
  const { type, externalIPs, externalName } = spec
  if (type === 'ExternalName' || !isUnset(externalName)) {
    return `leads to another host name by externalName; give the pods that name in a variable, ${trust}`
  }
  if (!isUnset(type) && type !== 'ClusterIP') {
    const what = `is of the type ${JSON.stringify(type).slice(0, 60)}, which opens addresses outside of the environment`
    return `${what}; set its type to ClusterIP in the values of the chart, and ${publicPorts}, ${trust}`
  }
  if (!isUnset(externalIPs) && !(Array.isArray(externalIPs) && externalIPs.length === 0)) {
    return `claims addresses by externalIPs, which may belong to others; remove them, and ${publicPorts}, ${trust}`
  }
  if (selectsPods(spec['selector'])) return undefined
  const what = 'has no selector of pods, so addresses that others write decide where it leads'
  return `${what}; give it a selector of labels, ${trust}`
}

/** An upgrade removes what is null. Names with `$` are directives that could remove the others. */
function selectsPods(selector: unknown): boolean {
  const labels = Object.entries(recordOf(selector))
  return labels.some(([, value]) => typeof value === 'string') && !labels.some(([name]) => name.startsWith('$'))
}

const isUnset = (value: unknown): boolean => value === undefined || value === null || value === ''

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
