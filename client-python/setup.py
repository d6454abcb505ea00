"""Generates the packages `mastery`, `reports` and `sandbox` into what is built, so that the repository does not contain 15,000 generated lines."""

import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

DOCUMENTS = Path(__file__).parent.parent / "docs" / "openapi"


class Generate(build_py):
    def run(self) -> None:
        super().run()
        options = Path(__file__).parent / "generator.yaml"
        for service in ("mastery", "reports", "sandbox"):
            document = DOCUMENTS / f"{service}.tolerant.json"
            output = Path(self.build_lib).resolve() / "mastery_reports_client" / service
            arguments = ["generate", "--path", document, "--output-path", output, "--overwrite"]
            command = [sys.executable, "-m", "openapi_python_client", *arguments, "--meta", "none"]
            subprocess.run([*command, "--config", options, "--fail-on-warning"], check=True)


setup(cmdclass={"build_py": Generate})
