import { number, type Variables } from './config-forms.ts'
import { type CreationLimits, creationLimitOf, limitsFrom } from './limits/index.ts'

/** Reads how many objects an organization, or a part of it, may have. */
export const creationLimits = (variables: Variables): CreationLimits =>
  limitsFrom((kind) => {
    const { setting, usual } = creationLimitOf(kind)
    return number(variables, setting, usual, 1, 1_000_000)
  })
