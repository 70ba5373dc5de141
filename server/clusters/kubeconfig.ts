import { parse } from 'yaml'
import { AppError } from '../lib/error.ts'

/** Throws 400 unless the text is YAML of the form that Kubernetes' clients read. */
export function checkKubeconfig(text: string): void {
  const config = Object(read(text))
  if (config.apiVersion !== 'v1' || config.kind !== 'Config') {
    throw new AppError('invalid', 'The body must be a kubeconfig: apiVersion v1, kind Config.')
  }
  for (const part of ['clusters', 'contexts', 'users']) {
    if (!Array.isArray(config[part]))
      throw new AppError('invalid', `The body must be a kubeconfig: ${part} is missing.`)
  }
}

function read(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (cause) {
    throw new AppError('invalid', 'The body is not valid YAML.', { cause })
  }
}
