/** Where images and charts come from: container registries and Helm repositories as records, and asking them. */
export { loginOf } from './login.ts'
export { createRegistries } from './registries.ts'
export { addDefaultRegistries, type ContainerRegistryRow, type HelmRepositoryRow } from './registry-store.ts'
