import { useNeedsReload } from '../api/new-version.ts'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'

/** Asks for a reload if the console was built again and the page has unsaved input. */
export const NewVersion = () =>
  useNeedsReload() && (
    <Notice>
      <span>
        The server has a new version of this page, which it needs for what you opened. Your input is still here. Save it
        first, because a reload loses it.
      </span>
      <Button onClick={() => location.reload()}>Reload</Button>
    </Notice>
  )
