import { codeOf } from './code-of.ts'

export interface Import {
  readonly specifier: string
  /** Whether nothing of the import exists at run time. */
  readonly typeOnly: boolean
}

const statement = /^(?:import|export) (?:(type )?(?:\{[^}]*\}|\*(?: as \w+)?|[\w$]+(?:, \{[^}]*\})?) from )?'([^']+)'/gm
/** Types are named in upper case: `import('./a.ts').Name`. */
const call = /(\btypeof )?\bimport\(\s*'([^'\n]+)'\s*,?\s*\)(\.[A-Z])?/g

/** Lists imports: statements, calls of `import(…)`, and types such as `import(…).Name`. */
export function readImports(text: string): Import[] {
  const statements = [...text.matchAll(statement)].map(([, type, specifier = '']) => ({
    specifier,
    typeOnly: type !== undefined,
  }))
  const calls = [...text.matchAll(call)].map(([, isTypeof, specifier = '', member]) => ({
    specifier,
    typeOnly: isTypeof !== undefined || member !== undefined,
  }))
  return [...statements, ...calls]
}

/** Whether a text has an `import(…)` whose module is not a plain string. */
export const hasComputedImport = (text: string): boolean => /\bimport\((?!\s*,?\s*\))/.test(codeOf(text))
