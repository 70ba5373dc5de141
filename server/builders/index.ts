/** Makes images out of source trees: one interface, a builder on Docker's BuildKit, and a fake one that follows the same rules. */
export { buildIdentity } from './build-identity.ts'
export * from './builder.ts'
export { ensureBaseImage } from './docker/base-image.ts'
export { createDockerBuilder, type DockerBuilderOptions } from './docker/docker-builder.ts'
export { removePortRules } from './docker/step-ports.ts'
export { declaredArguments, parseDockerfile, splitWords } from './dockerfile.ts'
export { missingDockerfile } from './dockerfile-check.ts'
export { createFakeBuilder, type FakeBehaviour, type FakeBuilder } from './fake/fake-builder.ts'
