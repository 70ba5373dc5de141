import { parse } from 'yaml'

/**
 * Returns why a text is not a kubeconfig. Undefined if it is one. Runs in a worker, because the
 * time to parse YAML can grow with the square of its length.
 */
export function kubeconfigProblem(text: string): string | undefined {
  let config: Record<string, unknown>
  try {
    config = Object(parse(text, { maxAliasCount: 100 }))
  } catch {
    return 'The body is not valid YAML.'
  }
  if (config['apiVersion'] !== 'v1' || config['kind'] !== 'Config') {
    return 'The body must be a kubeconfig: apiVersion v1, kind Config.'
  }
  const missing = ['clusters', 'contexts', 'users'].find((part) => !Array.isArray(config[part]))
  return missing && `The body must be a kubeconfig: ${missing} is missing.`
}
