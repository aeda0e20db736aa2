//! A model that follows a script, so that real agents need no account: Anthropic Messages, `OpenAI` Responses and Chat,
//! and Gemini, streaming or not, on loopback only.
//!
//! `scripted-model SCRIPT LOG` writes its port to standard output, a line for each request to the log, and ends when
//! its standard input is closed. The script is `{"steps": [...]}`; the next step is chosen by the number of the
//! model's turns in the request, so a resumed agent continues where it was.

#![expect(clippy::unwrap_used, reason = "a test program fails by panicking")]
#![expect(clippy::print_stdout, reason = "it prints its port")]

mod dialect;
mod http;
mod provider;
mod script;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;

use dialect::ModelApi;
use http::Request;
use script::{Reply, Script};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let script = std::fs::read_to_string(arguments.next().unwrap()).unwrap();
    let script = Arc::new(Mutex::new(Script::parse(&script)));
    let log = std::fs::OpenOptions::new().append(true).create(true).open(arguments.next().unwrap()).unwrap();
    let log = Arc::new(Mutex::new(log));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    std::thread::spawn(|| {
        // The parent has ended or closed the pipe.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    for stream in listener.incoming().map_while(Result::ok) {
        let script = script.clone();
        let log = log.clone();
        std::thread::spawn(move || {
            // A client may disconnect at any time.
            let _ = serve(stream, &script, &log);
        });
    }
}

fn serve(mut stream: TcpStream, script: &Mutex<Script>, log: &Mutex<std::fs::File>) -> io::Result<()> {
    let request = Request::read(&mut stream)?;
    let Some(dialect) = ModelApi::from_path(&request.path) else {
        // Lists of models, telemetry and the like.
        return http::answer(&mut stream, 200, &[], &json!({"object": "list", "data": []}).to_string());
    };
    let body = &request.body;
    let turns = dialect.turns(body);
    let tools = dialect::tools(body);
    let reply = script.lock().unwrap().reply(turns, &tools);
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let line = json!({"path": request.path, "turns": turns, "tools": names, "reply": format!("{reply:?}"), "body": body});
    writeln!(log.lock().unwrap(), "{line}")?;
    match reply {
        Reply::Status { status, headers, message } => {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            http::answer(&mut stream, status, &headers, &dialect.error(status, &message).to_string())
        }
        Reply::Failure(failure) => match provider::failure(dialect, failure) {
            Some((status, body)) => http::answer(&mut stream, status, &[], &body.to_string()),
            None => stream.shutdown(Shutdown::Both),
        },
        Reply::Hang => {
            // Until the client disconnects.
            let _ = stream.read(&mut [0]);
            Ok(())
        }
        Reply::Output(output) if dialect.wants_stream(&request.path, body) => {
            http::stream(&mut stream, &dialect.events(&output, turns))
        }
        Reply::Output(output) => {
            http::answer(&mut stream, 200, &[], &dialect.whole(&output, turns).to_string())
        }
    }
}
