/**
 * Builds images from source trees: one interface, a builder on Docker's BuildKit, and a fake one
 * that follows the same rules.
 */
export { buildIdentity } from './build-identity.ts'
export * from './builder.ts'
export * from './builders.ts'
export { type ClusterBuilderOptions, type ClusterBuilders, createClusterBuilders } from './cluster-builders.ts'
export { declaredArguments } from './declared-arguments.ts'
export { ensureBaseImage } from './docker/base-image.ts'
export { createDockerBaseImages, type DockerBaseImagesOptions } from './docker/docker-base-images.ts'
export { createDockerBuilder, type DockerBuilderOptions } from './docker/docker-builder.ts'
export { createOwnBuildKit, type OwnBuildKitOptions } from './docker/own-buildkit.ts'
export { removePortRules } from './docker/step-ports.ts'
export { type Dockerfile, DockerfileError, parseDockerfile } from './dockerfile.ts'
export { missingDockerfile } from './dockerfile-check.ts'
export { createFakeBuilder, type FakeBehaviour, type FakeBuilder } from './fake/fake-builder.ts'
export { type IgnoreFile, ignoreFileNames } from './ignore-file.ts'
export { refusingBuilder } from './no-builder.ts'
export { refuseIncomplete } from './refuse-incomplete.ts'
export { createRegistryBuilder, type RegistryBuilderOptions, readRegistryTarget } from './registry-builder.ts'
export { type RegistryAccount, readPullConfig, readRegistryLogin } from './registry-login.ts'
export { plainWords } from './words.ts'
