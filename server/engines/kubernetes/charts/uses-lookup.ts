import type { ChartRelease } from '../../engine.ts'

/**
 * Whether templates of a chart may look up objects of the cluster. Functions of templates have no
 * other names, and values may be templates. Pure.
 */
export const usesLookup = ({ files, values }: Pick<ChartRelease, 'files' | 'values'>): boolean =>
  values.reveal().includes('lookup') || [...files.values()].some((content) => content.includes('lookup'))
