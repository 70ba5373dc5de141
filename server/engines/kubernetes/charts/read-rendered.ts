import { readHelmYaml } from '../../../lib/helm-yaml.ts'
import type { RenderedObject } from '../../engine.ts'

/** The objects of a rendered chart, or why it cannot be read. */
export type Rendered = { readonly objects: readonly RenderedObject[] } | { readonly problem: string }

/** Reads the output of `helm template`. Runs in a worker. */
export function readRendered(text: string): Rendered {
  const read = readHelmYaml(text)
  if ('problem' in read) return { problem: `${sourceBefore(text, read.line)} renders invalid YAML: ${read.problem}` }
  const objects = read.documents.flatMap(itemsOf)
  const bad = objects.find((one) => !isObject(one))
  if (bad === undefined) return { objects: objects.filter(isObject) }
  const shown = JSON.stringify(bad).slice(0, 100)
  return { problem: `it renders something without apiVersion, kind or metadata.name: ${shown}` }
}

/** A document of the kind `List` is its items. */
const itemsOf = (document: unknown): unknown[] => {
  const { kind, items } = Object(document)
  return kind === 'List' && Array.isArray(items) ? items : [document]
}

function isObject(value: unknown): value is RenderedObject {
  const { apiVersion, kind, metadata } = Object(value)
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof Object(metadata).name === 'string'
}

/** Returns the name of the template whose output has a line. */
function sourceBefore(text: string, line: number): string {
  const above = text.split('\n', line)
  const source = above.findLast((one) => one.startsWith('# Source: '))
  return source?.slice('# Source: '.length, 300).replace(/^[^/]*\//, '') ?? 'the chart'
}
