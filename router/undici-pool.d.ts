/**
 * The pool alone, without fetch, WebSocket and caches. Saves 10 MB of memory. Same class as `Pool`
 * of `undici`.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
