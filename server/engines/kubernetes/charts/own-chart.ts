import type { ChartRelease, RenderedObject } from '../../engine.ts'
import { label } from '../labels.ts'
import { chartLabels, managedBy, podLabels } from './chart-names.ts'

type Json = Readonly<Record<string, unknown>>

/** Kinds whose `spec.template` is a pod. */
const withTemplate = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job']

/**
 * Returns the files of a chart that has exactly these objects, so that the program applies what was
 * checked. All of them get the labels of the platform. Pure.
 */
export function ownChart(
  release: Pick<ChartRelease, 'id' | 'service' | 'environment'>,
  objects: readonly RenderedObject[],
  instance: string,
): ReadonlyMap<string, string> {
  const about = { apiVersion: 'v2', name: 'quayside', version: '1.0.0', description: `Release ${release.id}.` }
  const files = new Map([['Chart.yaml', JSON.stringify(about)]])
  for (const [index, object] of objects.entries()) {
    const folder = object.kind === 'CustomResourceDefinition' ? 'crds' : 'templates'
    const text = JSON.stringify(labelled(release, object, instance))
    // Files of `crds` are no templates.
    files.set(`${folder}/${index}.yaml`, folder === 'crds' ? text : withoutActions(text))
  }
  return files
}

/** Quotes what a template would take for an action. */
const withoutActions = (text: string): string => text.replaceAll('{{', '{{ "{{" }}')

/** Returns an object with the labels of the platform, on its pods and volumes too. Pure. */
export function labelled(
  release: Pick<ChartRelease, 'id' | 'service' | 'environment'>,
  object: RenderedObject,
  instance: string,
): RenderedObject {
  const own = { ...chartLabels(release, instance), [label.release]: release.id }
  const pods = podLabels(release, instance)
  return withSpec(withLabels(object, own), object.kind, pods)
}

function withSpec(object: RenderedObject, kind: string, pods: Json): RenderedObject {
  const spec = objectOf(object['spec'])
  if (kind === 'Pod' || kind === 'PersistentVolumeClaim') return withLabels(object, pods)
  if (kind === 'Service') return { ...object, spec: { ...spec, ...selectorOf(spec, 'selector') } }
  if (kind === 'CronJob') {
    const job = objectOf(spec['jobTemplate'])
    return { ...object, spec: { ...spec, jobTemplate: { ...job, spec: withPods(objectOf(job['spec']), pods) } } }
  }
  return withTemplate.includes(kind) ? { ...object, spec: withPods(spec, pods) } : object
}

/** Returns the settings of an object that creates pods, with labels for these and their volumes. */
function withPods(spec: Json, pods: Json): Json {
  const selector = objectOf(spec['selector'])
  const claims = spec['volumeClaimTemplates']
  return {
    ...spec,
    ...(spec['selector'] !== undefined && { selector: { ...selector, ...selectorOf(selector, 'matchLabels') } }),
    template: withLabels(objectOf(spec['template']), pods),
    ...(Array.isArray(claims) && { volumeClaimTemplates: claims.map((claim) => withLabels(objectOf(claim), pods)) }),
  }
}

/** Pods have the manager of the platform, so selectors that name Helm must name it too. */
function selectorOf(holder: Json, name: string): Json {
  const selector = objectOf(holder[name])
  return managedBy.name in selector ? { [name]: { ...selector, [managedBy.name]: managedBy.value } } : {}
}

function withLabels<T extends Json>(object: T, labels: Json): T {
  const metadata = objectOf(object['metadata'])
  return { ...object, metadata: { ...metadata, labels: { ...objectOf(metadata['labels']), ...labels } } }
}

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
