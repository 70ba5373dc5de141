/** Container registries and Helm repositories: their records, and queries to them. */
export { createChartFetcher, createDependencyFetcher } from './chart-fetcher.ts'
export { loginOf } from './login.ts'
export { createRegistries } from './registries.ts'
export { createRegistryLogin } from './registry-login.ts'
export { addDefaultRegistries, type ContainerRegistryRow, type HelmRepositoryRow } from './registry-store.ts'
