/** Made by console/build.ts: the form of each advanced setting of services and clusters. */
declare module 'quayside:settings' {
  import type { SettingKind } from '../setting-kinds.ts'

  const settings: Readonly<Record<string, SettingKind>>
  export default settings
}
