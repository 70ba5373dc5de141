import { deferred } from './deferred.tsx'

/** A box above the page. Its code is a fifth of the first page, and is loaded after that page. */
export const Popup = deferred(async () => (await import('./BasePopup.tsx')).BasePopup)
