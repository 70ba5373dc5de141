/**
 * What images, build caches, volumes and lines take on the machine's disk: measured now and then,
 * and freed where nothing needs it.
 */
export { isOpenTo, keptImages, noteFetched, noteOwner } from './disk-store.ts'
export { forgetFullVolume } from './full-volume-store.ts'
export { createDiskKeeper, type DiskKeeper } from './keeper.ts'
export { createOrganizationDisk, type OrganizationDisk } from './organization-disk.ts'
export { type Disks, joinDisks } from './reconcilers.ts'
