import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A server that people run, as it comes or as it is often set up. */
export interface ServerKind {
  readonly name: string;
  /** Whether its bodies end with their connection, so that no depot is in the middle. */
  readonly isUnframed?: boolean;
  /** What has to be installed. */
  readonly programs: readonly string[];
  /** Writes what it needs into a folder that has the file, `file.bin`; gives what to run. */
  readonly commands: (folder: string, ports: readonly number[]) => readonly (readonly string[])[];
}

const PYTHON_MAKER = `
import http.server, sys
class Maker(http.server.BaseHTTPRequestHandler):
    protocol_version = sys.argv[2]
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'application/octet-stream')
        if sys.argv[2] == 'HTTP/1.1': self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        with open('file.bin', 'rb') as file:
            while True:
                piece = file.read(65536)
                if sys.argv[2] == 'HTTP/1.1': self.wfile.write(b'%x\\r\\n%s\\r\\n' % (len(piece), piece))
                else: self.wfile.write(piece)
                if not piece: return
    def log_message(self, *all): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Maker).serve_forever()
`;
const NODE_FILE = `
const fs = require('node:fs'), http = require('node:http');
http.createServer((asked, answer) => {
  const { size, mtime } = fs.statSync('file.bin');
  const head = process.argv[2] === 'sized' ? { 'Content-Length': size, 'Last-Modified': mtime.toUTCString() } : {};
  answer.writeHead(200, head);
  fs.createReadStream('file.bin').pipe(answer);
}).listen(Number(process.argv[1]), '127.0.0.1');
`;

const nginx =
  (location: string): ServerKind['commands'] =>
  (folder, [port, behind]) => {
    for (const name of ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
      http { access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port};
      location / { root ${folder}; ${location.replace('BEHIND', `127.0.0.1:${behind}`)} } } }`,
    );
    return [['nginx', '-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`]];
  };
const pythonFiles = (port: number | undefined) => [
  'python3',
  '-m',
  'http.server',
  '--bind',
  '127.0.0.1',
  `${port}`,
];
const haproxy =
  (rules: string): ServerKind['commands'] =>
  (folder, [port, behind]) => {
    writeFileSync(
      join(folder, 'haproxy.cfg'),
      `defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s\nlisten all\n bind 127.0.0.1:${port}\n${rules}\n server one 127.0.0.1:${behind}\n`,
    );
    return [pythonFiles(behind), ['haproxy', '-f', join(folder, 'haproxy.cfg')]];
  };

export const SERVER_KINDS: readonly ServerKind[] = [
  { name: 'nginx', programs: ['nginx'], commands: nginx('') },
  {
    name: 'nginx without ranges',
    programs: ['nginx'],
    commands: nginx('max_ranges 0;'),
  },
  {
    name: 'nginx without ranges and validators',
    programs: ['nginx'],
    commands: nginx('max_ranges 0; etag off; add_header Last-Modified "";'),
  },
  {
    name: 'nginx that rewrites what passes, in chunks',
    programs: ['nginx'],
    commands: nginx('sub_filter_types *; sub_filter "no such text is in it" "";'),
  },
  {
    name: 'nginx before Python, buffered',
    programs: ['nginx', 'python3'],
    commands: (folder, ports) => [
      pythonFiles(ports[1]),
      ...nginx('proxy_pass http://BEHIND; proxy_max_temp_file_size 0;')(folder, ports),
    ],
  },
  {
    name: 'nginx before Python, which takes validators away',
    programs: ['nginx', 'python3'],
    commands: (folder, ports) => [
      pythonFiles(ports[1]),
      ...nginx('proxy_pass http://BEHIND; proxy_hide_header Last-Modified; proxy_buffering off;')(
        folder,
        ports,
      ),
    ],
  },
  { name: 'Python', programs: ['python3'], commands: (_, [port]) => [pythonFiles(port)] },
  ...(['HTTP/1.1', 'HTTP/1.0'] as const).map((version) => ({
    name: `a Python program by ${version}, without a length`,
    isUnframed: version === 'HTTP/1.0',
    programs: ['python3'],
    commands: (_: string, [port]: readonly number[]) => [['python3', '-c', PYTHON_MAKER, `${port}`, version]],
  })),
  ...(['sized', 'unsized'] as const).map((form) => ({
    name: `a Node program, ${form}`,
    programs: [],
    commands: (_: string, [port]: readonly number[]) => [
      [process.execPath, '-e', NODE_FILE, `${port}`, form],
    ],
  })),
  {
    name: 'HAProxy before Python',
    programs: ['haproxy', 'python3'],
    commands: haproxy(''),
  },
  {
    name: 'HAProxy before Python, with a tag of its own for each answer',
    programs: ['haproxy', 'python3'],
    commands: haproxy(' http-response set-header ETag \\"%[uuid]\\"'),
  },
  {
    name: 'HAProxy before Python, which says that there are no ranges',
    programs: ['haproxy', 'python3'],
    commands: haproxy(' http-response set-header Accept-Ranges none'),
  },
];

/** What is missing to run one of these; `undefined` where nothing is. */
export function missingProgram({ programs }: ServerKind): string | undefined {
  return programs.find((program) => {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
}

/** Starts one in a folder; resolves once it gives the file at the first port. */
export async function startServer(
  kind: ServerKind,
  folder: string,
  ports: readonly number[],
): Promise<() => Promise<void>> {
  const children: ChildProcess[] = [];
  for (const [program = '', ...args] of kind.commands(folder, ports))
    children.push(spawn(program, args, { cwd: folder, stdio: 'ignore' }));
  for (let tries = 0; !(await givesFile(ports[0] ?? 0)); tries += 1) {
    if (tries === 200) throw new Error(`${kind.name} does not give the file`);
    await delay(50);
  }
  return async () => {
    await Promise.all(
      children.map(
        (child) =>
          new Promise<void>((resolve) => {
            child.once('exit', () => resolve());
            if (child.exitCode === null) child.kill('SIGKILL');
            else resolve();
          }),
      ),
    );
  };
}

function givesFile(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get(`http://127.0.0.1:${port}/file.bin`, { agent: false }, ({ statusCode }) => {
      asked.destroy();
      resolve(statusCode === 200);
    });
    asked.once('error', () => resolve(false));
  });
}
