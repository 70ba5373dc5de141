import type { KindName } from './kinds.ts'

/** The noun of a kind in the names of its operations. */
export interface Noun<K extends string> {
  readonly noun: K
}
/** The fields that operations on one service of a kind share. */
export const onService = <const N extends KindName>(name: N, { noun }: Noun<string>) =>
  ({ target: 'service', kind: name, tag: noun }) as const
export const pathOf = <const N extends KindName>(name: N) => `/${name}/{${name}Id}` as const
