import { useEffect, useState } from 'react'
import { secondsOf } from './duration.ts'

/** The time since a moment. It counts while it is shown. */
export function Elapsed({ since }: { readonly since: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return <span>{secondsOf(`PT${Math.max(0, (now - Date.parse(since)) / 1000)}S`)}</span>
}
