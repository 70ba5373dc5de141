import { useEffect } from 'react'

// The forms of the page that have input which is not saved.

let count = 0

/** Whether a reload of the page would lose input. */
export const hasUnsaved = (): boolean => count > 0

/** Counts a form as long as it has input that is not saved. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return undefined
    count++
    return () => void count--
  }, [isUnsaved])
}
