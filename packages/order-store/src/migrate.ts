export interface MigrationReport { readonly applied: readonly string[] }
export interface MigrationStatus { readonly applied: readonly string[]; readonly pending: readonly string[] }
export declare function migrate(options: { databaseUrl: string; folder?: string; lockTimeoutMs?: number }): Promise<MigrationReport>;
export declare function migrationStatus(options: { databaseUrl: string; folder?: string }): Promise<MigrationStatus>;
