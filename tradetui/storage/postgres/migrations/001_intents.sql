-- Accounts, who works on them from where, their intents step by step, and the locks of trading.
-- The tables are closed to everybody: people call functions, each of which is one transaction.
-- SQLSTATEs: TT001 already open, TT002 overtaken, TT003 not allowed, TT004 trading locked, TT005 other schema,
-- TT006 no such step, TT007 another one follows, TT008 another installation has this machine's name.

alter default privileges for role tradetui_owner revoke execute on functions from public;
grant usage on schema tradetui to tradetui_viewer;

create table account (
    name text primary key,
    base_url text not null,
    environment text not null,
    uid text not null,
    -- The number of the newest event. It comes from this row and not from a sequence, so that events become visible in
    -- the order of their numbers.
    version bigint not null default 0
);

create table machine (
    account text not null references account,
    person text not null,
    name text not null check (length(name) between 1 and 64),
    share double precision check (share > 0 and share <= 1),
    seen_at timestamptz not null,
    -- When it last said that it has compared its journal with this store.
    level_at timestamptz,
    -- Made by a program before its first join, and set by each of its connections as tradetui.installation, so that a
    -- second program of the same name is not taken for it.
    installation text not null,
    primary key (account, person, name)
);

create table intent (
    id text primary key,
    account text not null references account,
    scope text not null,
    kind text not null,
    state text not null check (state in ('intended', 'withdrawn', 'sent', 'acknowledged', 'rejected', 'unknown', 'settled',
        'corrected', 'released')),
    -- Whether it holds its scope. One that was corrected while another held the scope takes it when the other ends.
    open boolean not null,
    first_number bigint not null,
    last_number bigint not null,
    fence bigint not null default 0,
    follower_person text,
    follower_machine text,
    follower_until timestamptz
);
create unique index one_open_intent on intent (account, scope) where open;
create index corrected_intent on intent (account, scope) where state = 'corrected';
create index newest_intent on intent (account, first_number);

create table event (
    account text not null references account,
    number bigint not null,
    intent text not null references intent,
    state text not null,
    at timestamptz not null,
    person text not null,
    machine text not null,
    details jsonb not null check (jsonb_typeof(details) = 'object'),
    -- The writer's own id of the step, by which a repeated call is known.
    step text not null,
    primary key (account, number),
    unique (account, step)
);
create index event_of_intent on event (intent, number);

create table trading_lock (
    account text not null references account,
    person text not null,
    machine text not null,
    at timestamptz not null,
    primary key (account, person)
);

create table transition (before text not null, after text not null, primary key (before, after));
insert into transition values
    ('intended', 'withdrawn'), ('intended', 'sent'),
    ('sent', 'withdrawn'), ('sent', 'acknowledged'), ('sent', 'rejected'), ('sent', 'unknown'),
    ('acknowledged', 'settled'), ('acknowledged', 'unknown'),
    ('unknown', 'settled'), ('unknown', 'released'), ('unknown', 'unknown'), ('unknown', 'acknowledged'),
    ('unknown', 'rejected'), ('unknown', 'withdrawn'),
    ('settled', 'corrected'),
    ('corrected', 'settled'), ('corrected', 'released'), ('corrected', 'corrected'),
    ('released', 'released');

create function ends(p_state text) returns boolean language sql immutable
    set search_path = tradetui, pg_temp
    return p_state in ('withdrawn', 'rejected', 'settled', 'released');

create function age_s(p_at timestamptz) returns double precision language sql volatile
    set search_path = tradetui, pg_temp
    return extract(epoch from clock_timestamp() - p_at)::double precision;

create function refuse(p_code text, p_message text, p_detail jsonb default '{}') returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
begin
    raise exception using errcode = p_code, message = p_message, detail = p_detail::text;
end $$;

create function role_of_caller() returns text language sql stable
    set search_path = tradetui, pg_temp
    return case
        when pg_has_role(session_user, 'tradetui_admin', 'usage') then 'admin'
        when pg_has_role(session_user, 'tradetui_trader', 'usage') then 'trader'
        when pg_has_role(session_user, 'tradetui_viewer', 'usage') then 'viewer'
    end;

create function may_trade(p_person text) returns boolean language sql stable
    set search_path = tradetui, pg_temp
    return exists (select from pg_roles where rolname = p_person and pg_has_role(oid, 'tradetui_trader', 'usage'));

create function check_schema(p_schema int) returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
declare
    current_version int := (select max(version) from schema_version);
begin
    if p_schema <> current_version then
        perform refuse('TT005',
            format('the store has schema %s, this program knows schema %s; %s', current_version, p_schema,
                case when current_version > p_schema then 'install the newer tradetui'
                    else 'the owner runs tradetui store init' end),
            jsonb_build_object('store', current_version, 'program', p_schema));
    end if;
end $$;

create function refuse_installation(p_machine text) returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
begin
    perform refuse('TT008', format('another installation already works here as %s@%s; write machine = "…" with another '
        'name into the profile, then run tradetui store join', session_user, p_machine));
end $$;

create function installation_of_caller() returns text language sql stable
    set search_path = tradetui, pg_temp
    return coalesce(current_setting('tradetui.installation', true), '');

-- Let only those in who may; the machine, if one is named, counts as seen. p_level is the version with which it has
-- compared its journal: a later one than this store's is that of a store from which this one is an older copy.
create function admit(p_schema int, p_account text, p_machine text, p_trades boolean, p_level bigint default null)
    returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
begin
    perform check_schema(p_schema);
    if p_trades and coalesce(role_of_caller(), '') not in ('trader', 'admin') then
        perform refuse('TT003', format('%s may only view; the owner grants tradetui_trader', session_user));
    end if;
    if p_machine is null and not p_trades then
        if role_of_caller() = 'admin'
            or exists (select from machine where account = p_account and person = session_user) then
            return;
        end if;
    else
        update machine set seen_at = clock_timestamp(), level_at = case
            when p_level <= (select version from account where name = p_account) then clock_timestamp() else level_at end
            where account = p_account and person = session_user and name = p_machine
                and installation = installation_of_caller();
        if found then
            return;
        end if;
        if exists (select from machine where account = p_account and person = session_user and name = p_machine) then
            perform refuse_installation(p_machine);
        end if;
    end if;
    perform refuse('TT003',
        format('%s has not joined this account; run tradetui store join', concat_ws('@', session_user, p_machine)),
        jsonb_build_object('person', session_user, 'machine', p_machine));
end $$;

create function account_of(p_schema int, p_intent text) returns text language plpgsql
    set search_path = tradetui, pg_temp
as $$
declare
    of_account text;
begin
    perform check_schema(p_schema);
    of_account := (select account from intent where id = p_intent);
    if of_account is null then
        perform refuse('TT006', format('the store knows no intent %s', p_intent));
    end if;
    return of_account;
end $$;

-- Whoever writes to an account holds its row from here to the end of the call.
create function hold_account(p_account text) returns void language sql
    set search_path = tradetui, pg_temp
    begin atomic
        select from account where name = p_account for update;
    end;

create function next_number(p_account text) returns bigint language sql
    set search_path = tradetui, pg_temp
    begin atomic
        update account set version = version + 1 where name = p_account returning version;
    end;

create function refuse_open(p_intent intent) returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
declare
    first event := (select e from event e where e.account = p_intent.account and e.number = p_intent.first_number);
    last event := (select e from event e where e.account = p_intent.account and e.number = p_intent.last_number);
begin
    perform refuse('TT001', format('intent %s is %s', p_intent.id, p_intent.state), jsonb_build_object(
        'intent', p_intent.id, 'state', p_intent.state, 'person', first.person, 'machine', first.machine,
        'age_s', age_s(last.at)));
end $$;

create function refuse_if_locked(p_account text) returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
declare
    first_lock trading_lock := (select l from trading_lock l where account = p_account order by at limit 1);
begin
    if first_lock.person is not null then
        perform refuse('TT004', format('%s@%s locked trading', first_lock.person, first_lock.machine),
            jsonb_build_object('person', first_lock.person, 'machine', first_lock.machine,
                'age_s', age_s(first_lock.at)));
    end if;
end $$;

create function refuse_follower(p_intent intent) returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
begin
    perform refuse('TT007',
        format('%s@%s follows intent %s', p_intent.follower_person, p_intent.follower_machine, p_intent.id),
        jsonb_build_object('person', p_intent.follower_person, 'machine', p_intent.follower_machine,
            'left_s', greatest(0, -age_s(p_intent.follower_until))));
end $$;

-- Machines that reach one account by two addresses of an exchange would be two accounts here, and both would send.
create function refuse_second_address(p_account text, p_base_url text, p_environment text, p_uid text) returns void
    language plpgsql set search_path = tradetui, pg_temp
as $$
declare
    first_url text;
    machines text;
begin
    -- Of two that join at once, the second waits here for the first.
    perform pg_advisory_xact_lock(hashtextextended(p_environment || ' ' || p_uid, 0));
    select a.base_url, string_agg(m.person || '@' || m.name, ', ' order by m.person, m.name) into first_url, machines
        from account a join machine m on m.account = a.name
        where a.environment = p_environment and a.uid = p_uid and a.name <> p_account and a.base_url <> p_base_url
        group by a.base_url limit 1;
    if first_url is not null then
        perform refuse('TT003', format('account %s is in use under another address, by %s; write base_url = "%s" into '
            'the profile, or, if that is another exchange, have an admin remove these machines with tradetui store '
            'remove', p_uid, machines, first_url));
    end if;
end $$;

-- What people call

create function hello(p_schema int, out schema int, out person text, out role text, out server_epoch_s double precision)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform check_schema(p_schema);
    schema := p_schema;
    person := session_user;
    role := role_of_caller();
    server_epoch_s := extract(epoch from clock_timestamp());
end $$;

create function join_account(p_schema int, p_account text, p_base_url text, p_environment text, p_uid text,
    p_machine text, p_share double precision, out is_new boolean)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform check_schema(p_schema);
    perform refuse_second_address(p_account, p_base_url, p_environment, p_uid);
    insert into account values (p_account, p_base_url, p_environment, p_uid) on conflict do nothing;
    is_new := not exists (
        select from machine where account = p_account and person = session_user and name = p_machine);
    insert into machine (account, person, name, share, seen_at, installation)
        values (p_account, session_user, p_machine, p_share, clock_timestamp(), installation_of_caller())
        on conflict (account, person, name) do update set share = excluded.share, seen_at = excluded.seen_at
        where machine.installation = excluded.installation;
    if not found then
        perform refuse_installation(p_machine);
    end if;
end $$;

create function leave_account(p_schema int, p_account text, p_machine text) returns void
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    unfinished intent;
begin
    perform admit(p_schema, p_account, p_machine, false);
    perform hold_account(p_account);
    -- Without the store the machine would not see what another one has open, and could send on the same symbol.
    select i.* into unfinished from intent i join event e on e.account = i.account and e.number = i.last_number
        where i.account = p_account
            and (i.open or i.state = 'corrected' and e.person = session_user and e.machine = p_machine) limit 1;
    if unfinished.id is not null then
        perform refuse_open(unfinished);
    end if;
    -- Without a machine on the account nobody could take this person's lock away.
    if not exists (select from machine where account = p_account and person = session_user and name <> p_machine)
        and exists (select from trading_lock where account = p_account and person = session_user) then
        perform refuse_if_locked(p_account);
    end if;
    delete from machine where account = p_account and person = session_user and name = p_machine;
    perform pg_notify('tradetui', p_account);
end $$;

create function begin_intent(p_schema int, p_intent text, p_account text, p_scope text, p_kind text, p_details jsonb,
    p_after bigint, p_machine text, out number bigint)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    same intent;
    holder intent;
    newer event;
begin
    perform admit(p_schema, p_account, p_machine, true);
    perform hold_account(p_account);
    select * into same from intent where id = p_intent;
    if same.id is not null then
        if same.account = p_account and same.scope = p_scope and exists (
            select from event e where e.account = p_account and e.number = same.first_number
                and e.person = session_user) then
            number := same.first_number;
            return;
        end if;
        perform refuse_open(same);
    end if;
    perform refuse_if_locked(p_account);
    select * into holder from intent where account = p_account and scope = p_scope and open;
    if holder.id is not null then
        perform refuse_open(holder);
    end if;
    select e.* into newer from event e join intent i on i.id = e.intent
        where e.account = p_account and e.number > p_after and i.scope = p_scope order by e.number desc limit 1;
    if newer.number is not null then
        perform refuse('TT002', format('%s@%s has acted here since', newer.person, newer.machine), jsonb_build_object(
            'person', newer.person, 'machine', newer.machine, 'age_s', age_s(newer.at), 'number', newer.number));
    end if;
    number := next_number(p_account);
    insert into intent values (p_intent, p_account, p_scope, p_kind, 'intended', true, number, number);
    insert into event values (p_account, number, p_intent, 'intended', clock_timestamp(), session_user, p_machine,
        p_details, p_intent);
    perform pg_notify('tradetui', p_account);
end $$;

-- A scope that nobody holds goes to the first intent that waits for it, corrected while another one held it.
create function give_scope(p_account text, p_scope text) returns void language sql
    set search_path = tradetui, pg_temp
    begin atomic
        update intent set open = true where id = (select id from intent
                where account = p_account and scope = p_scope and state = 'corrected' order by first_number limit 1)
            and not exists (select from intent where account = p_account and scope = p_scope and open);
    end;

create function step_intent(p_schema int, p_intent text, p_step text, p_state text, p_details jsonb, p_prior text,
    p_fence bigint, p_machine text, out number bigint)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    current intent;
    holder_id text;
    of_account text := account_of(p_schema, p_intent);
begin
    perform admit(p_schema, of_account, p_machine, true);
    perform hold_account(of_account);
    select e.number into number from event e where e.account = of_account and e.step = p_step;
    if number is not null then
        return;
    end if;
    select * into current from intent where id = p_intent;
    if coalesce(p_fence, 0) <> current.fence
        or current.fence > 0 and (session_user, p_machine) <> (current.follower_person, current.follower_machine) then
        perform refuse_follower(current);
    end if;
    if current.state <> coalesce(p_prior, current.state)
        or not exists (select from transition where before = current.state and after = p_state) then
        perform refuse('TT006', format('%s: %s to %s', p_intent, current.state, p_state),
            jsonb_build_object('state', current.state));
    end if;
    if p_state = 'sent' then
        perform refuse_if_locked(of_account);
    end if;
    holder_id := (select id from intent where account = of_account and scope = current.scope and open);
    number := next_number(of_account);
    update intent set state = p_state, last_number = number,
        open = not ends(p_state) and coalesce(holder_id, p_intent) = p_intent where id = p_intent;
    perform give_scope(of_account, current.scope);
    insert into event values (of_account, number, p_intent, p_state, clock_timestamp(), session_user, p_machine,
        p_details, p_step);
    perform pg_notify('tradetui', of_account);
end $$;

-- Enter an intent of a machine in the state in which it is there, also while trading is locked. One that an older copy
-- of the store has as intended, and that was withdrawn for it perhaps, is brought to that state.
create function adopt_intent(p_schema int, p_intent text, p_account text, p_scope text, p_kind text, p_state text,
    p_details jsonb, p_step text, p_machine text, out number bigint)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    current intent;
    holder intent;
begin
    perform admit(p_schema, p_account, p_machine, true);
    perform hold_account(p_account);
    select * into current from intent where id = p_intent;
    if current.account <> p_account then
        perform refuse('TT006', format('intent %s is of another account', p_intent));
    end if;
    -- One whose step is here was not lost: it was withdrawn after it.
    if current.id is not null
        and (current.state not in ('intended', 'withdrawn') or p_state in ('intended', 'withdrawn')
            or exists (select from event e where e.account = p_account and e.step = p_step)) then
        number := current.first_number;
        return;
    end if;
    select * into holder from intent where account = p_account and scope = p_scope and open and id <> p_intent;
    if holder.id is not null and not ends(p_state) then
        perform refuse_open(holder);
    end if;
    number := next_number(p_account);
    insert into intent values (p_intent, p_account, p_scope, p_kind, p_state, not ends(p_state), number, number)
        on conflict (id) do update set state = p_state, open = not ends(p_state), last_number = excluded.last_number;
    insert into event values (p_account, number, p_intent, p_state, clock_timestamp(), session_user, p_machine,
        p_details, p_step);
    perform give_scope(p_account, p_scope);
    perform pg_notify('tradetui', p_account);
end $$;

create function take_over(p_schema int, p_intent text, p_machine text, p_lease_s double precision,
    out fence bigint, out left_s double precision)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    current intent;
    is_mine boolean;
    of_account text := account_of(p_schema, p_intent);
begin
    perform admit(p_schema, of_account, p_machine, true);
    perform hold_account(of_account);
    select * into current from intent where id = p_intent;
    is_mine := (session_user, p_machine) is not distinct from (current.follower_person, current.follower_machine)
        and current.follower_until > clock_timestamp();
    -- A sender that is back knows better than its follower how its call ended.
    if current.follower_until > clock_timestamp() and not is_mine and not exists (select from event e
        where e.account = of_account and e.number = current.first_number
            and e.person = session_user and e.machine = p_machine) then
        perform refuse_follower(current);
    end if;
    fence := current.fence + case when is_mine then 0 else 1 end;
    left_s := least(p_lease_s, 60);  -- so that nobody keeps the others out for long
    update intent i set fence = take_over.fence, follower_person = session_user, follower_machine = p_machine,
        follower_until = clock_timestamp() + make_interval(secs => left_s) where id = p_intent;
    if not is_mine then
        perform pg_notify('tradetui', of_account);
    end if;
end $$;

create function locks_of(p_account text, out person text, out machine text, out age_s double precision)
    returns setof record language sql volatile set search_path = tradetui, pg_temp
    begin atomic
        select l.person, l.machine, age_s(l.at) from trading_lock l where l.account = p_account order by l.at;
    end;

create function lock_trading(p_schema int, p_account text, p_locked boolean, p_machine text,
    out person text, out machine text, out age_s double precision)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform admit(p_schema, p_account, p_machine, true);
    perform hold_account(p_account);
    if p_locked then
        insert into trading_lock values (p_account, session_user, p_machine, clock_timestamp()) on conflict do nothing;
    else
        delete from trading_lock l where l.account = p_account and l.person = session_user;
    end if;
    perform next_number(p_account);
    perform pg_notify('tradetui', p_account);
    return query select * from locks_of(p_account);
end $$;

create function check_admin(p_schema int) returns void language plpgsql
    set search_path = tradetui, pg_temp
as $$
begin
    perform check_schema(p_schema);
    if role_of_caller() is distinct from 'admin' then
        perform refuse('TT003', format('%s may not do this for others; the owner of the store runs '
            'GRANT tradetui_admin TO %I', session_user, session_user));
    end if;
end $$;

-- An admin removes a machine that is lost; `removed` is false if it has not joined. What it left open stays open.
create function remove_machine(p_schema int, p_account text, p_person text, p_machine text, out removed boolean)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform check_admin(p_schema);
    -- In the order of every writer, who holds its machine's row before the account's.
    delete from machine m where m.account = p_account and m.person = p_person and m.name = p_machine;
    removed := found;
    perform hold_account(p_account);
    perform pg_notify('tradetui', p_account);
end $$;

-- An admin removes the lock of a person who cannot do it; `removed` is false if that person has none.
create function unlock_trading(p_schema int, p_account text, p_person text, out removed boolean)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform check_admin(p_schema);
    perform hold_account(p_account);
    delete from trading_lock l where l.account = p_account and l.person = p_person;
    removed := found;
    if removed then
        perform next_number(p_account);
        perform pg_notify('tradetui', p_account);
    end if;
end $$;

create function account_state(p_schema int, p_account text, p_machine text, p_level bigint default null,
    out version bigint, out now_epoch_s double precision, out open jsonb, out locks jsonb, out machines jsonb, out role text)
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    -- It writes only when a machine was seen, which nobody misses after a crash.
    perform set_config('synchronous_commit', 'off', true);
    perform admit(p_schema, p_account, p_machine, false, p_level);
    now_epoch_s := extract(epoch from clock_timestamp());
    role := role_of_caller();
    -- One statement, so that all of it is of one moment.
    select a.version,
        (select coalesce(jsonb_agg(jsonb_build_object(
            'id', i.id, 'scope', i.scope, 'kind', i.kind, 'state', i.state,
            'person', begun.person, 'machine', begun.machine, 'last_person', e.person, 'last_machine', e.machine,
            'age_s', age_s(e.at), 'number', e.number,
            -- The machine of a person who may not trade any more settles nothing.
            'machine_seen_s', case when may_trade(e.person) then coalesce(age_s(m.seen_at), age_s(e.at)) else 1e9 end,
            'follower_person', case when i.follower_until > clock_timestamp() then i.follower_person end,
            'follower_machine', case when i.follower_until > clock_timestamp() then i.follower_machine end,
            'follower_left_s', coalesce(greatest(0, -age_s(i.follower_until)), 0)) order by i.first_number), '[]')
            from intent i join event e on e.account = i.account and e.number = i.last_number
            join event begun on begun.account = i.account and begun.number = i.first_number
            left join machine m on m.account = i.account and m.person = e.person and m.name = e.machine
            where i.account = p_account and (i.open or i.state = 'corrected')),
        (select coalesce(jsonb_agg(to_jsonb(l)), '[]') from locks_of(p_account) l),
        (select coalesce(jsonb_agg(jsonb_build_object('person', m.person, 'machine', m.name,
            'seen_s', age_s(m.seen_at), 'level_s', age_s(m.level_at), 'share', m.share) order by m.person, m.name), '[]')
            from machine m where m.account = p_account)
        into version, open, locks, machines from account a where a.name = p_account;
end $$;

create function events_where(p_account text, p_intents text[], p_after bigint, p_limit int,
    out number bigint, out intent text, out scope text, out kind text, out state text, out at_ms bigint,
    out person text, out machine text, out details jsonb, out step text)
    returns setof record language sql stable set search_path = tradetui, pg_temp
    begin atomic
        select e.number, e.intent, i.scope, i.kind, e.state, (extract(epoch from e.at) * 1000)::bigint, e.person,
            e.machine, e.details, e.step
            from event e join intent i on i.id = e.intent
            where e.account = p_account and (p_intents is null or e.intent = any (p_intents)) and e.number > p_after
            order by e.number limit p_limit;
    end;

create function read_intent(p_schema int, p_account text, p_intent text,
    out number bigint, out intent text, out scope text, out kind text, out state text, out at_ms bigint,
    out person text, out machine text, out details jsonb, out step text)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform admit(p_schema, p_account, null, false);
    return query select * from events_where(p_account, array[p_intent], 0, null);
end $$;

create function newest_intents(p_schema int, p_account text, p_limit int,
    out number bigint, out intent text, out scope text, out kind text, out state text, out at_ms bigint,
    out person text, out machine text, out details jsonb, out step text)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform admit(p_schema, p_account, null, false);
    return query select * from events_where(p_account, array(
        select id from intent i where i.account = p_account order by i.first_number desc limit p_limit), 0, null);
end $$;

create function events_after(p_schema int, p_account text, p_number bigint, p_limit int,
    out number bigint, out intent text, out scope text, out kind text, out state text, out at_ms bigint,
    out person text, out machine text, out details jsonb, out step text)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform admit(p_schema, p_account, null, false);
    return query select * from events_where(p_account, null, p_number, p_limit);
end $$;

-- The accounts that the caller has joined; an admin sees all.
create function accounts(p_schema int, out name text, out base_url text, out environment text, out uid text,
    out version bigint)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform check_schema(p_schema);
    return query select a.* from account a where role_of_caller() = 'admin'
        or exists (select from machine m where m.account = a.name and m.person = session_user) order by a.name;
end $$;

grant execute on function hello, join_account, leave_account, account_state, read_intent, newest_intents, events_after,
    accounts, remove_machine, unlock_trading to tradetui_viewer;
grant execute on function begin_intent, step_intent, adopt_intent, take_over, lock_trading to tradetui_trader;
