/** Looks into what a repository holds, for forms: Dockerfiles, charts, Terraform files. Keeps nothing and runs nothing. */
export { inspect } from './inspections.ts'
