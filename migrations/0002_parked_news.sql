-- News that the sink refuses for a reason of its own, taken out of the way of the others until somebody has looked at it.

create table outbox_parked (
  id bigint primary key,
  lcid text collate "C" not null,
  version bigint not null,
  payload jsonb not null,
  created_at timestamptz not null,
  parked_at timestamptz not null default clock_timestamp(),
  reason text not null
);

-- Each row of the outbox soon leaves it, and every look at the oldest walks over what it left until a vacuum clears it away.
alter table outbox set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on);
