/** A value that survives a round trip through a jsonb column. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }
