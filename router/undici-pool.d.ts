/** The pool alone, without fetch, WebSocket and caches: saves 10 MB of memory. The same class as `Pool` of `undici`. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
