/**
 * Checks of the machine before and while the platform runs. Facts are collected, then judged by
 * pure functions. Repairs nothing.
 */
export type { Finding } from './check.ts'
export { examine } from './examine.ts'
export type { Facts } from './facts.ts'
export { type DoctorSettings, gatherFacts } from './gather.ts'
export { gatherHaproxy, type HaproxySettings, type Http3Settings, http3Wishes } from './gather-haproxy.ts'
export { checkHaproxy, checkHttp3 } from './haproxy-check.ts'
