import type { Backend, StackAction } from './stack-store.ts'

const places: Readonly<Record<Backend, string>> = {
  kubernetes: 'kept by the platform (backend "kubernetes")',
  user_provided: 'in the backend of its files (backend "user_provided")',
}

/**
 * Pure: returns why a run must not begin. A run with another backend than that of the state would
 * find no state, and would create every resource again.
 */
export function backendRefusal(
  { action, backend }: { readonly action: StackAction; readonly backend: Backend },
  current: Backend | undefined,
): string | undefined {
  if (action === 'MIGRATE_STATE') {
    if (current === undefined) return 'The stack has no state, so nothing can be moved. Deploy it.'
    return current === backend ? `The state of the stack is ${places[current]} already. Deploy it.` : undefined
  }
  if (current === undefined || current === backend) return undefined
  return (
    `The state of the stack is ${places[current]}, but its settings name another backend. Deploy it with the action ` +
    'MIGRATE_STATE first, or restore the setting.'
  )
}
