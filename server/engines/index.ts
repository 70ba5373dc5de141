/**
 * Engines run workloads on a cluster: plain data in, plain data out, found again by labels after
 * any crash.
 */
export { createAbsentEngine } from './absent-engine.ts'
export * from './archive-reader.ts'
export { maskedField } from './changed-field.ts'
export { mostOfChart, readChartDirectory, readPackedChart } from './chart-files.ts'
export * from './chart-ports.ts'
export type { HeldBuilder } from './docker/builder/builder-daemons.ts'
export { localBuilderImage, publishedBuilderImage } from './docker/builder/builder-spec.ts'
export {
  createEngineBuildKit,
  type EngineBuildKit,
  type EngineBuildKitOptions,
} from './docker/builder/engine-buildkit.ts'
export type { ImageContent } from './docker/builder/saved-images.ts'
export { DockerEngine, type DockerEngineOptions } from './docker/docker-engine.ts'
export type { InstallationThings } from './docker/installation.ts'
export * from './engine.ts'
export * from './engines.ts'
export type { Behaviour, Effects } from './fake/fake-behaviour.ts'
export { FakeEngine } from './fake/fake-engine.ts'
export type { ClusterBuilderSettings } from './kubernetes/builder/builder-objects.ts'
export { type BuilderPodOptions, openBuilder } from './kubernetes/builder/builder-pod.ts'
export { createKube, type Kube, kinds } from './kubernetes/client/index.ts'
export { KubernetesEngine, type KubernetesEngineOptions } from './kubernetes/kubernetes-engine.ts'
export {
  environmentsOf,
  instanceOn,
  issuedLabels,
  label,
  ownLabels,
  portLabels,
  routeLabels,
  routerLabels,
} from './kubernetes/labels.ts'
export { replicasOn } from './kubernetes/manifests.ts'
export { inPlace } from './kubernetes/own-place.ts'
export { pullConfig } from './kubernetes/pull-secret.ts'
export type { BuildResults, BuiltImage } from './mirror/build-results.ts'
export { createImageMirror, type ImageMirror } from './mirror/image-mirror.ts'
export type { PublicImage } from './mirror/public-image.ts'
export type { IncomingPart, ResultReceiver } from './mirror/receive-result.ts'
export { noEngine } from './no-engine.ts'
