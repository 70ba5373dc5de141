/** Made by console/build.ts: the method, path and content type of each operation. */
declare module 'quayside:endpoints' {
  import type { Endpoint } from '@quayside/client/client-of.ts'
  import type { Contract } from '@quayside/contract'

  const endpoints: { readonly [N in keyof Contract]: Endpoint }
  export default endpoints
}

/** Made by console/build.ts: the permissions that every operation needs. */
declare module 'quayside:accesses' {
  import type { Contract } from '@quayside/contract'
  import type { Access } from '@quayside/contract/operation.ts'

  interface Needs {
    readonly needs: readonly Access[]
    readonly owner?: true
    readonly someMode?: true
  }
  const accesses: { readonly [N in keyof Contract]: Needs }
  export default accesses
}
