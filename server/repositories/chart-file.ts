import { parse, YAMLError } from 'yaml'

/**
 * Reads YAML, or returns why it is invalid. Runs in a worker, because reading YAML may take time
 * quadratic in its length.
 */
export function readChartFile(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    const { name, version } = Object(parse(text, { maxAliasCount: 20, logLevel: 'silent' }))
    return { value: { name, version } }
  } catch (error) {
    if (!(error instanceof YAMLError) && !(error instanceof ReferenceError)) throw error
    return { problem: error.message.split('\n')[0] ?? '' }
  }
}
