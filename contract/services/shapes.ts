/**
 * The forms of a kind on an engine, with what to say if an engine does not run them. An engine
 * lists the shapes that it runs in its capabilities.
 */
export const shapes = {
  'long-running': {
    refusal: 'Applications, containers and databases cannot run here, for they are of the shape "long-running"',
    missing: 'the engine of its cluster does not run long-running programs',
  },
  task: {
    refusal: 'Jobs cannot run here, for they are of the shape "task"',
    missing: 'the engine of its cluster does not run jobs',
  },
  chart: {
    refusal: 'Helm charts need Kubernetes, for they are of the shape "chart"',
    missing: 'the engine of its cluster does not run Helm charts',
  },
  stack: {
    refusal:
      'Terraform stacks need an image of their engine (QUAYSIDE_TERRAFORM_IMAGE), for they are of the shape "stack"',
    missing: 'the engine of its cluster does not run Terraform stacks',
  },
} as const
export type Shape = keyof typeof shapes
