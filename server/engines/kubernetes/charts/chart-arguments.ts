/** Arguments that change nothing here: the platform always does this, or in its own way. */
const understood = ['--install', '--wait', '--atomic', '--rollback-on-failure', '--cleanup-on-fail', '--debug']
/** Arguments that are passed on. */
const passed = ['--wait-for-jobs', '--no-hooks', '--disable-openapi-validation', '--force', '--reset-values']

/**
 * Returns the arguments that `helm` gets, or why one of them is not accepted. All others could make
 * it read files of the platform, run programs, or act elsewhere. Pure.
 */
export function acceptedArguments(
  given: readonly string[],
): { readonly accepted: readonly string[] } | { readonly refusal: string } {
  const names = given.flatMap((one) => one.trim().split(/\s+/)).filter((one) => one !== '')
  const other = names.find((name) => !understood.includes(name) && !passed.includes(name))
  if (other === undefined) return { accepted: [...new Set(names.filter((name) => passed.includes(name)))] }
  return {
    refusal:
      `the argument "${other.slice(0, 100)}" is not accepted; use ${[...understood, ...passed].join(', ')}, and ` +
      'the settings of the service for all else',
  }
}
