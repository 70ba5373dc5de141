import type { VariableUse } from '../api/reads-variable-uses.ts'
import { VariableUsers } from './VariableUsers.tsx'

interface DeletedWithProps {
  readonly variableKey: string
  /** Undefined while they are read. */
  readonly uses: readonly VariableUse[] | undefined
}

/** The effect of a deletion on the variables that use the deleted one. */
export function DeletedWith({ variableKey, uses }: DeletedWithProps) {
  if (!uses) return <p role="status">Looking for the variables that use it …</p>
  const naming = uses.filter(({ kind }) => kind === 'REFERENCE')
  const standing = uses.filter(({ kind }) => kind !== 'REFERENCE')
  return (
    <>
      {standing.length > 0 && (
        <>
          <p>These aliases and overrides are deleted with it:</p>
          <VariableUsers uses={standing} isWhole />
        </>
      )}
      {naming.length > 0 && (
        <>
          <p>
            These texts contain <code>{`{{${variableKey}}}`}</code>, which becomes empty unless a wider variable has the
            key:
          </p>
          <VariableUsers uses={naming} isWhole />
        </>
      )}
      {uses.length === 0 && <p>No variable uses it.</p>}
      <p>Texts of secrets are not searched.</p>
    </>
  )
}
