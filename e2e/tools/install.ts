import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BrowserKind } from '../browsers/browser.ts';
import { findBrowser } from '../browsers/find-browsers.ts';
import { findProgramFile } from '../lab/requirements.ts';
import { findProgram } from '../programs/find-program.ts';
import { buildNatsServer, findNatsServer } from '../programs/nats-server.ts';

interface Requirement {
  readonly name: string;
  /** Its package in Debian. */
  readonly debianPackage: string;
  readonly isPresent: () => boolean;
  readonly advice: string;
  /** Whether nothing can be tested without it; the tests of the others are skipped, with the reason. */
  readonly isNeeded: boolean;
}

const NATS_SERVER: Requirement = {
  name: 'nats-server',
  // Built by it.
  debianPackage: 'golang-go',
  isPresent: () => findNatsServer() !== undefined,
  advice:
    "install Go (any of the last years; Debian's 'golang-go' will do), which builds it, or set LONGHAUL_NATS_SERVER to one of version 2.12 or newer",
  isNeeded: Boolean(process.env.CI),
};

function browser(kind: BrowserKind, debianPackage: string, advice: string): Requirement {
  return {
    name: kind,
    debianPackage,
    isPresent: () => findBrowser(kind) !== undefined,
    advice,
    isNeeded: true,
  };
}

function tool(name: string, debianPackage = name): Requirement {
  const advice = `install the package '${debianPackage}' of your system, which has '${name}'`;
  return {
    name,
    debianPackage,
    isPresent: () => findProgramFile(name) !== undefined,
    advice,
    isNeeded: Boolean(process.env.CI),
  };
}

/** What `npm run test:unit` needs. */
const OF_UNIT_TESTS: readonly Requirement[] = [NATS_SERVER];
const OF_ALL_TESTS: readonly Requirement[] = [
  NATS_SERVER,
  browser(
    'chromium',
    'chromium',
    "run 'npx playwright install --with-deps chromium', or install Chromium (no snap, not Google Chrome) and set LONGHAUL_CHROMIUM",
  ),
  browser(
    'firefox',
    'firefox-esr',
    'install Firefox or Firefox ESR from mozilla.org (no snap) and set LONGHAUL_FIREFOX to its executable',
  ),
  tool('curl'),
  tool('wget'),
  tool('aria2c', 'aria2'),
  tool('ip', 'iproute2'),
  tool('sysctl', 'procps'),
  tool('bird', 'bird2'),
  tool('exabgp'),
];

/** Without it a machine that has no fonts at all shows pages without text. */
const FONT_PACKAGE = 'fonts-dejavu-core';

/** Installs what the tests need and the machine lacks. Returns what is still missing. */
function install(requirements: readonly Requirement[]): readonly Requirement[] {
  const findMissing = () => requirements.filter(({ isPresent }) => !isPresent());
  const lacksPackage = ({ name }: Requirement) =>
    name !== NATS_SERVER.name || findProgram('go') === undefined;
  let missing = findMissing();
  const packages = missing.filter(lacksPackage);
  if (packages.length > 0 && mayInstallPackages()) {
    installDebianPackages(packages);
    missing = findMissing();
  }
  if (missing.includes(NATS_SERVER)) {
    buildNatsServer();
    missing = findMissing();
  }
  if (missing.some(({ name }) => name === 'chromium')) {
    installPlaywrightChromium();
    missing = findMissing();
  }
  return missing;
}

function installDebianPackages(missing: readonly Requirement[]): void {
  const packages = missing.map(({ debianPackage }) => debianPackage);
  if (missing.some(({ name }) => name === 'chromium' || name === 'firefox')) packages.push(FONT_PACKAGE);
  run('apt-get', ['update']);
  // One by one: a system that lacks one of the packages (Ubuntu has browsers only as snaps) still gets the others.
  for (const name of packages) {
    run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', name]);
  }
}

function installPlaywrightChromium(): void {
  const folder = dirname(createRequire(import.meta.url).resolve('@playwright/test/package.json'));
  const systemLibraries = mayInstallPackages() ? ['--with-deps'] : [];
  run(process.execPath, [join(folder, 'cli.js'), 'install', '--no-shell', ...systemLibraries, 'chromium']);
}

/** Runs a program in view of the user. Whether it worked shows in what is found afterwards. */
function run(program: string, args: readonly string[]): void {
  console.log(`> ${program} ${args.join(' ')}`);
  spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
}

function mayInstallPackages(): boolean {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined;
}

const isForUnitTests = process.argv[2] === 'unit';
for (const { name, advice, isNeeded } of install(isForUnitTests ? OF_UNIT_TESTS : OF_ALL_TESTS)) {
  const consequence = isNeeded ? 'The tests need' : 'Some tests are skipped without';
  console.error(`${consequence} ${name}, which was not found: ${advice}.`);
  if (isNeeded) process.exitCode = 1;
}
