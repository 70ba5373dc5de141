import { number, type Variables } from './config-forms.ts'
import { type CreationLimits, usualLimits } from './organizations/index.ts'

/** Reads how many objects an organization may have. */
export const creationLimits = (variables: Variables): CreationLimits => ({
  projects: number(variables, 'QUAYSIDE_MOST_PROJECTS', usualLimits.projects, 1, 1_000_000),
  environments: number(variables, 'QUAYSIDE_MOST_ENVIRONMENTS', usualLimits.environments, 1, 1_000_000),
  services: number(variables, 'QUAYSIDE_MOST_SERVICES', usualLimits.services, 1, 1_000_000),
})
