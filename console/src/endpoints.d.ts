/** Made by console/build.ts: the method, path and content type of each operation. */
declare module 'quayside:endpoints' {
  import type { Endpoint } from '@quayside/client/client-of.ts'
  import type { Contract } from '@quayside/contract'

  const endpoints: { readonly [N in keyof Contract]: Endpoint }
  export default endpoints
}
