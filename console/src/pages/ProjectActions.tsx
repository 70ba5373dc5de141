import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { api } from '../api/client.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx'
import { NewEnvironment } from './NewEnvironment.tsx'
import { useMay } from './use-may.ts'

interface ProjectActionsProps {
  readonly organizationId: string
  readonly project: { readonly id: string; readonly name: string; readonly environments: readonly unknown[] }
}

/** A new environment in a project, and the end of the project. */
export function ProjectActions({ organizationId, project }: ProjectActionsProps) {
  const [open, setOpen] = useState<'new' | 'delete'>()
  const close = (): void => setOpen(undefined)
  const remove = useChange({
    change: () => api.deleteProject({ projectId: project.id }),
    makesOld: ['organization', organizationId, 'projects'],
  })
  const { length } = project.environments
  const may = useMay({ projectId: project.id })
  const full = length > 0 ? `it has ${length === 1 ? 'an environment' : `${length} environments`}` : undefined
  return (
    <>
      <Button look="danger" refusal={may('deleteProject') ?? full} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      <Link
        className={buttonClass}
        to="/organizations/$organizationId/projects/$projectId/variables"
        params={{ organizationId, projectId: project.id }}
      >
        Variables
      </Link>
      <Link
        className={buttonClass}
        to="/organizations/$organizationId/projects/$projectId/settings"
        params={{ organizationId, projectId: project.id }}
      >
        Settings
      </Link>
      <Button refusal={may('createEnvironment')} onClick={() => setOpen('new')}>
        New environment
      </Button>
      {open === 'new' && <NewEnvironment {...{ organizationId, project }} onClose={close} />}
      {open === 'delete' && (
        <ConfirmDialog
          noun="project"
          name={project.name}
          losses={['the project, with its variables, secrets and deployment rules']}
          isBusy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          preview={() => remove.preview()}
          onClose={close}
        />
      )}
    </>
  )
}
