/** Joins the rooms into one server. */
export { type Composition, compose } from './compose.ts'
export { createDrivers, type Drivers, type Ground } from './ground.ts'
export { createDriversWithoutDocker } from './without-docker.ts'
