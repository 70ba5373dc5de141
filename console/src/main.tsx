import './style/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/client.ts'
import { accessToken } from './api/session.ts'
import { paths } from './paths.ts'
import { router } from './routes.tsx'

const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
// Signing in begins before the first page is prepared. That page asks again and shows the error.
if (location.pathname !== paths.signedIn) accessToken().catch(() => undefined)
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
