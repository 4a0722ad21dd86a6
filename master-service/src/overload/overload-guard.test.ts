import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startMaster } from '../testing/start-master.ts';
import { registerDepots } from '../testing/test-depot.ts';
import { OverloadGuard } from './overload-guard.ts';

/** A loop whose turns end when the test says so, and which rests as long as it says. */
function loop() {
  const clock = { ms: 0, idleMs: 0 };
  let ends: (() => void)[] = [];
  const guard = new OverloadGuard({
    steadyMs: () => clock.ms,
    idleMs: () => clock.idleMs,
    afterTurn: (then) => ends.push(then),
  });
  return {
    /** How many of so many plans are taken that cost a millisecond each. */
    plan: (times: number, address = '192.0.2.1') => {
      let taken = 0;
      for (let index = 0; index < times; index += 1) {
        if (!guard.takePlan(address)) continue;
        taken += 1;
        clock.ms += 1;
      }
      return taken;
    },
    pass: (ms: number) => {
      clock.ms += ms;
    },
    endTurn: (restsMs = 0) => {
      for (const end of ends) end();
      ends = [];
      clock.ms += restsMs;
      clock.idleMs += restsMs;
    },
  };
}

test('a turn plans for a tenth of a second at most, and the next one again', () => {
  const { plan, endTurn } = loop();
  for (let turn = 0; turn < 3; turn += 1) {
    const plans = Array.from({ length: 150 }, (_, network) => plan(1, `10.${turn}.${network}.1`));
    expect(plans.filter((taken) => taken === 1)).toHaveLength(100);
    endTurn(20);
  }
});

test('the network that asks most is led past first, and others are planned for meanwhile', () => {
  const { plan } = loop();
  expect(plan(1_000, '192.0.2.1')).toBe(40);
  expect(plan(1_000, '192.0.2.200'), 'a neighbour').toBe(0);
  expect(plan(20, '198.51.100.1')).toBe(20);
});

test('what holds the loop up otherwise leads nobody past', () => {
  const { plan, pass, endTurn } = loop();
  for (let times = 0; times < 100; times += 1) {
    plan(10);
    pass(1_000);
    expect(plan(20)).toBe(20);
    endTurn();
  }
});

test('where many wait in every turn so much is planned that the loop rests, and all again when few ask', () => {
  const { plan, endTurn } = loop();
  let [asked, taken, restedMs] = [0, 0, 0];
  // A millisecond for each plan: of the sixty that are asked for in thirty milliseconds half can be made.
  for (let turn = 0; turn < 1_000; turn += 1) {
    const madeMs = plan(60);
    const restsMs = Math.max(0, 30 - madeMs);
    endTurn(restsMs);
    if (turn < 100) continue;
    [asked, taken, restedMs] = [asked + 60, taken + madeMs, restedMs + restsMs];
  }
  expect(taken / asked).toBeGreaterThan(0.3);
  expect(taken / asked).toBeLessThan(0.5);
  expect(restedMs / (restedMs + taken)).toBeGreaterThan(0.03);
  endTurn(1_000);
  plan(1);
  expect(plan(30)).toBe(30);
});

test('who asks for little is planned for while the loop never rests, and everybody now and then', () => {
  const { plan, endTurn } = loop();
  let [few, many] = [0, 0];
  for (let turn = 0; turn < 1_000; turn += 1) {
    many += plan(60, '192.0.2.1');
    few += plan(1, '198.51.100.1');
    endTurn(turn < 500 ? 2 : 0);
    if (turn === 499) expect(few).toBeGreaterThan(490);
  }
  expect(many).toBeGreaterThan(500);
  expect(many).toBeLessThan(30_000);
});

test('a loop that few ask is planned with however busy it is', () => {
  const { plan, endTurn } = loop();
  for (let turn = 0; turn < 1_000; turn += 1) {
    expect(plan(10)).toBe(10);
    endTurn();
  }
});

async function connectMany(port: number, count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(port, '127.0.0.1', () => resolve(socket));
          socket.once('error', reject);
        }),
    ),
  );
}

/** Sends each a request in one turn of the loop; gives status and where they are led. */
function askAll(sockets: readonly Socket[], targets: readonly string[]): Promise<string[]> {
  const answers = sockets.map(
    (socket) =>
      new Promise<string>((resolve) => {
        let text = '';
        socket.on('data', (data) => {
          text += String(data);
          if (!text.includes('\r\n\r\n')) return;
          socket.removeAllListeners('data');
          resolve(`${text.slice(9, 12)} ${/\r\nlocation: ([^\r]*)/i.exec(text)?.[1] ?? ''}`);
        });
      }),
  );
  for (const [index, socket] of sockets.entries()) {
    socket.write(`GET ${targets[index]} HTTP/1.1\r\nHost: get.example\r\n\r\n`);
  }
  return Promise.all(answers);
}

test('a master with more to plan than it can leads clients to the origin, lets nobody go where he may not, and plans again', async ({
  onTestFinished,
}) => {
  // Each look at the clock is a millisecond later: a plan takes that.
  let ms = 0;
  const master = await startMaster({
    steadyMs: () => {
      ms += 5;
      return ms;
    },
    config: { limits: { waitingPerNetwork: 1_000 } },
  });
  onTestFinished(() => master.master.close());
  await registerDepots(master, 'd1', 'd2');
  const count = 300;
  const sockets = await connectMany(master.port, count);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const target = (index: number, host = 'origin.example') =>
    `/get/~size=1000000000/https/${host}/${index}.iso`;
  // Node takes one connection in a turn: all of them are there when all are answered.
  await askAll(
    sockets,
    sockets.map(() => '/get/nothing'),
  );
  const answers = await askAll(
    sockets,
    sockets.map((_, index) => target(index)),
  );
  expect(answers.every((answer) => answer.startsWith('307 '))).toBe(true);
  const direct = answers.filter((answer) => answer.startsWith('307 https://origin.example/'));
  expect(direct.length).toBeGreaterThan(count / 2);
  expect(direct.length).toBeLessThan(count);
  expect(new Set(direct).size).toBe(direct.length);
  const { status } = await fetch(`${master.url}/healthz`);
  expect(status).toBe(200);
  const metrics = await (await fetch(`${master.url}/metrics`)).text();
  expect(metrics).toContain(`longhaul_master_spared_plans_total{answer="direct"} ${direct.length}\n`);

  const refused = await askAll(
    sockets,
    sockets.map((_, index) => target(index, 'elsewhere.example')),
  );
  expect(new Set(refused)).toEqual(new Set(['403 ']));
  let more = 1_000;
  const askOnce = async () => {
    more += 1;
    return (await askAll(sockets.slice(0, 1), [target(more)]))[0];
  };
  await expect.poll(askOnce).toMatch(/^307 http:\/\/127\.0\.0\.1:\d+\//);
});
