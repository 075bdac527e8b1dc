-- Orders, their lines and business references, the inbox that is also the history, the outbox, and the tombstones of purged orders.
-- Amounts are whole minor units of the order's currency. Text that identifies something compares byte for byte (collate "C").

create table orders (
  lcid text collate "C" primary key check (lcid ~ '^[0-9A-Za-z._:@/+=~-]{1,128}$'),
  status text not null default 'awaiting_placement',
  payment_status text not null default 'unpaid',
  fulfilment_status text not null default 'unallocated',
  placed boolean not null default false,
  cancelled boolean not null default false,
  currency text,
  ship_gate text,
  adjustment_minor bigint not null default 0,
  payable_minor bigint not null default 0,
  authorized_minor bigint not null default 0,
  captured_minor bigint not null default 0,
  voided_minor bigint not null default 0,
  refunded_minor bigint not null default 0,
  refund_due_minor bigint not null default 0,
  void_due_minor bigint not null default 0,
  release_due bigint not null default 0,
  open_cancels integer not null default 0,
  payment_failures integer not null default 0,
  -- Events of this order that wait: `held` counts all deferred ones, `halted` says that a failed one stands in front.
  held integer not null default 0,
  halted boolean not null default false,
  -- The last number given to a first decision of this order; arrivals have no gaps.
  arrivals bigint not null default 0,
  version bigint not null default 0,
  placed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint orders_money_never_negative check (
    payable_minor >= 0 and authorized_minor >= 0 and captured_minor >= 0 and voided_minor >= 0
    and refunded_minor >= 0 and refund_due_minor >= 0 and void_due_minor >= 0
  ),
  constraint orders_money_adds_up check (
    refunded_minor <= captured_minor and captured_minor + voided_minor <= authorized_minor
  ),
  constraint orders_counts_never_negative check (
    release_due >= 0 and open_cancels >= 0 and payment_failures >= 0 and held >= 0 and version >= 0 and arrivals >= version
  ),
  constraint orders_cancelled_owes_nothing check (not cancelled or payable_minor = 0),
  constraint orders_placed_has_currency check (not placed or (currency is not null and ship_gate in ('captured', 'authorized')))
  -- Room on each page keeps updates of a row beside it (heap-only tuples): no index covers a column that every update changes.
) with (fillfactor = 70);

-- Few orders are ever halted, and the flag rarely changes: this index does not cost the updates their place on the page.
create index orders_halted on orders (lcid) where halted;

create table order_lines (
  lcid text collate "C" not null references orders (lcid),
  line_id text collate "C" not null,
  sku text not null,
  added_quantity integer not null,
  quantity integer not null,
  peak integer not null,
  cancelled integer not null default 0,
  reserved bigint not null default 0,
  released bigint not null default 0,
  shipped integer not null default 0,
  short_open bigint not null default 0,
  unit_amount_minor bigint not null,
  primary key (lcid, line_id),
  constraint order_lines_quantities_add_up check (
    shipped >= 0 and cancelled >= 0 and shipped + cancelled <= quantity and quantity <= peak
    and released >= 0 and shipped <= reserved - released and short_open >= 0
  )
) with (fillfactor = 70);

create table order_refs (
  lcid text collate "C" not null,
  kind text collate "C" not null,
  ref text collate "C" not null,
  parent_kind text collate "C",
  parent_ref text collate "C",
  data_digest text collate "C" not null,
  amount bigint not null default 0,
  used bigint not null default 0,
  voided bigint not null default 0,
  reversed boolean not null default false,
  open boolean not null default false,
  line_id text collate "C",
  detail jsonb,
  primary key (lcid, kind, ref)
) with (fillfactor = 90);

create table order_events (
  -- The order of first decisions, over all orders.
  seq bigint generated always as identity,
  source text collate "C" not null,
  event_id text collate "C" not null,
  lcid text collate "C" not null references orders (lcid),
  type text not null,
  -- The whole envelope as published; null where it cannot be kept as jsonb, then `raw` holds an escaped excerpt.
  event jsonb,
  raw text,
  outcome text not null check (outcome in ('applied', 'duplicate', 'rejected', 'deferred', 'failed')),
  reason text,
  detail text,
  version bigint,
  arrival bigint not null,
  body_digest text collate "C" not null,
  published_at timestamptz not null,
  decided_at timestamptz not null default clock_timestamp(),
  first_decided_at timestamptz not null default clock_timestamp(),
  deferred_until timestamptz,
  -- A rejected shipment or over-capture happened in the real world all the same; it stands until somebody acknowledges it.
  alert boolean not null default false,
  worker text not null,
  primary key (source, event_id),
  constraint order_events_version_when_applied check ((outcome = 'applied') = (version is not null))
) with (fillfactor = 90);

create unique index order_events_by_arrival on order_events (lcid, arrival);
create index order_events_held on order_events (lcid, arrival) where outcome = 'deferred';
create index order_events_due on order_events (deferred_until) where outcome = 'deferred' and deferred_until is not null;
create index order_events_unsupported on order_events (lcid) where outcome = 'deferred' and reason = 'UNSUPPORTED';
-- Failed ones are few: this finds what an order stands behind without reading its past.
create index order_events_failed on order_events (lcid) where outcome = 'failed';
create index order_events_dead on order_events (seq) where outcome in ('failed', 'rejected');
create index order_events_alerts on order_events (lcid) where alert;

create table outbox (
  id bigint generated always as identity primary key,
  lcid text collate "C" not null,
  version bigint not null,
  payload jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  published_at timestamptz
);

create unique index outbox_unpublished on outbox (lcid, version) where published_at is null;

create table purged_orders (
  lcid text collate "C" primary key,
  purged_at timestamptz not null default now()
);

-- Ends a transaction that wrote more or fewer rows than were decided; its error class is nobody else's.
create function refuse_miscount(written bigint[], decided bigint[]) returns bigint[] language plpgsql as $$
begin
  raise exception 'wrote % rows where % were decided', written, decided using errcode = 'JB001';
end
$$;
