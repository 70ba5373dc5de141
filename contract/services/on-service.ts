import { type KindName, serviceKinds } from './kinds.ts'

/** The fields that operations on one service of a kind share. `about` names their part of it. */
export const onService = <const N extends KindName>(name: N, about = '') =>
  ({ target: 'service', kind: name, tag: `${serviceKinds[name].noun}${about}` }) as const
export const pathOf = <const N extends KindName>(name: N) => `/${name}/{${name}Id}` as const
